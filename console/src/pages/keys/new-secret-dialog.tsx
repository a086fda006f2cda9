import { TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog, DialogActions, DialogBody } from '../../ui/dialog.tsx';
import { Check } from '../../ui/field.tsx';

const words = text.keys;

/** Shows a new key the only time it can be shown, and closes once it was saved. */
export function NewSecretDialog({ secret, onClose }: NewSecretDialogProps) {
  const [saved, setSaved] = useState(false);
  const example = `curl ${window.location.origin}/v1/models \\\n  -H "Authorization: Bearer ${secret}"`;
  return (
    <Dialog
      open
      wide
      locked={!saved}
      onOpenChange={onClose}
      title={words.shownTitle}
      description={
        <span className="flex items-start gap-2 text-warn">
          <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          {words.shownBody}
        </span>
      }
    >
      <DialogBody>
        <div className="space-y-5">
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
          <Check label={words.savedIt} checked={saved} onChange={(event) => setSaved(event.target.checked)} />
        </div>
      </DialogBody>
      <DialogActions>
        <Button look="solid" disabled={!saved} onClick={onClose}>
          {text.actions.done}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

interface NewSecretDialogProps {
  readonly secret: string;
  readonly onClose: () => void;
}
