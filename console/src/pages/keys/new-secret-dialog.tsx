import { text } from '../../text/index.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ShownOnceDialog } from '../../ui/shown-once-dialog.tsx';

const words = text.keys;

/** Shows a new key once; closes after the user confirms saving it. */
export function NewSecretDialog({ secret, onClose }: NewSecretDialogProps) {
  const example = `curl ${window.location.origin}/v1/models \\\n  -H "Authorization: Bearer ${secret}"`;
  return (
    <ShownOnceDialog
      wide
      title={words.shownTitle}
      warning={words.shownBody}
      savedLabel={words.savedIt}
      onClose={onClose}
    >
      <div className="flex flex-wrap gap-2">
        <code
          data-testid="new-key"
          className="min-w-0 flex-1 rounded-lg border bg-sunken px-3 py-2 font-mono text-[13px] break-all select-all"
        >
          {secret}
        </code>
        <CopyButton worded value={secret} label={words.copyKey} />
      </div>
      <div>
        <p className="mb-1.5 text-[13px] font-medium">{words.use}</p>
        <CodeBlock label={words.use} code={example} copyLabel={words.copyExample} />
      </div>
    </ShownOnceDialog>
  );
}

interface NewSecretDialogProps {
  readonly secret: string;
  readonly onClose: () => void;
}
