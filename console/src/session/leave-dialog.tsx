import type { Session } from '@relay/contract';
import { cacheKeys } from '../api/queries.ts';
import { useChange } from '../api/use-change.ts';
import { LimitsDeletedWith } from '../parts/deleted-limits.tsx';
import { text } from '../text/index.ts';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';

const words = text.members;

interface LeaveDialogProps {
  readonly session: Session;
  readonly onClose: () => void;
}

/** Confirms leaving the organization, which also ends the session. */
export function LeaveDialog({ session, onClose }: LeaveDialogProps) {
  const leave = useChange({
    run: (api) => api.DELETE('/api/account/membership'),
    stale: [cacheKeys.session],
    said: () => words.left(session.org.name),
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={words.leaveTitle(session.org.name)}
      action={words.leaveAction}
      busy={leave.isPending}
      error={leave.error}
      onConfirm={() => leave.mutate(undefined)}
    >
      <p>{words.leaveBody}</p>
      {session.user === null ? null : <LimitsDeletedWith id={session.user.id} />}
    </ConfirmDialog>
  );
}
