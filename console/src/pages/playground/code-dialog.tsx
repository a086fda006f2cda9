import { Tabs } from 'radix-ui';
import { text } from '../../text/index.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Dialog, DialogBody } from '../../ui/dialog.tsx';
import type { CodeSample } from './code-samples.ts';

const words = text.playground;

interface CodeDialogProps {
  readonly samples: readonly CodeSample[];
  readonly onClose: () => void;
}

export function CodeDialog({ samples, onClose }: CodeDialogProps) {
  return (
    <Dialog open wide onOpenChange={onClose} title={words.codeTitle} description={words.codeHint}>
      <DialogBody>
        <Tabs.Root defaultValue={samples[0]?.id ?? ''}>
          <Tabs.List aria-label={words.codeTitle} className="mb-3 flex gap-1">
            {samples.map(({ id, label }) => (
              <Tabs.Trigger
                key={id}
                value={id}
                className="rounded-md px-2.5 py-1 text-[13px] text-ink-soft hover:text-ink data-[state=active]:bg-hover data-[state=active]:font-medium data-[state=active]:text-ink"
              >
                {label}
              </Tabs.Trigger>
            ))}
          </Tabs.List>
          {samples.map(({ id, label, code }) => (
            <Tabs.Content key={id} value={id} tabIndex={-1}>
              <CodeBlock label={label} code={code} copyLabel={words.copyCode} />
            </Tabs.Content>
          ))}
        </Tabs.Root>
      </DialogBody>
    </Dialog>
  );
}
