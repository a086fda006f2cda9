import { useQueryClient } from '@tanstack/react-query';
import { TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { cacheKeys } from '../../api/queries.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog, DialogActions, DialogBody } from '../../ui/dialog.tsx';
import { Check } from '../../ui/field.tsx';
import { useToast } from '../../ui/toasts.tsx';

const words = text.settings.security;

interface BackupCodesDialogProps {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

/** Shows the codes the only time they can be shown, and closes once they were saved. */
export function BackupCodesDialog({ codes, onClose }: BackupCodesDialogProps) {
  const client = useQueryClient();
  const toast = useToast();
  const [saved, setSaved] = useState(false);
  const done = () => {
    onClose();
    toast(words.factorIsOn);
    // Only now: the panel that this stands on changes with it.
    void client.invalidateQueries({ queryKey: cacheKeys.session });
  };
  return (
    <Dialog
      open
      locked={!saved}
      onOpenChange={done}
      title={words.backupTitle}
      description={
        <span className="flex items-start gap-2 text-warn">
          <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          {words.backupBody}
        </span>
      }
    >
      <DialogBody>
        <div className="space-y-4">
          <ul
            aria-label={words.backupCodes}
            className="grid grid-cols-2 gap-x-6 gap-y-1.5 rounded-lg border bg-sunken px-4 py-3 font-mono text-[13px]"
          >
            {codes.map((code) => (
              <li key={code}>{code}</li>
            ))}
          </ul>
          <CopyButton worded value={codes.join('\n')} label={words.copyCodes} />
          <Check
            label={words.savedThem}
            checked={saved}
            onChange={(event) => setSaved(event.target.checked)}
          />
        </div>
      </DialogBody>
      <DialogActions>
        <Button look="solid" disabled={!saved} onClick={done}>
          {text.actions.done}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
