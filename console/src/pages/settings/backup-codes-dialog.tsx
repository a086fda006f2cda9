import { useQueryClient } from '@tanstack/react-query';
import { cacheKeys } from '../../api/queries.ts';
import { text } from '../../text/index.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ShownOnceDialog } from '../../ui/shown-once-dialog.tsx';
import { useToast } from '../../ui/toasts.tsx';

const words = text.settings.security;

interface BackupCodesDialogProps {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

/** Shows the backup codes once; closes after the user confirms saving them. */
export function BackupCodesDialog({ codes, onClose }: BackupCodesDialogProps) {
  const client = useQueryClient();
  const toast = useToast();
  const done = () => {
    onClose();
    toast(words.factorIsOn);
    // Refetched only now, because it replaces the panel that contains this dialog.
    void client.invalidateQueries({ queryKey: cacheKeys.session });
  };
  return (
    <ShownOnceDialog
      title={words.backupTitle}
      warning={words.backupBody}
      savedLabel={words.savedThem}
      onClose={done}
    >
      <ul
        aria-label={words.backupCodes}
        className="grid grid-cols-2 gap-x-6 gap-y-1.5 rounded-lg border bg-sunken px-4 py-3 font-mono text-[13px]"
      >
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <CopyButton worded value={codes.join('\n')} label={words.copyCodes} />
    </ShownOnceDialog>
  );
}
