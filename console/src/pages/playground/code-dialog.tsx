import { text } from '../../text/index.ts';
import { CodeTabs } from '../../ui/code-tabs.tsx';
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
        <CodeTabs label={words.codeTitle} samples={samples} copyLabel={words.copyCode} />
      </DialogBody>
    </Dialog>
  );
}
