import type { Session } from '@relay/contract';
import type { ReactNode } from 'react';
import { cacheKeys } from '../api/queries.ts';
import { useChange } from '../api/use-change.ts';
import { text } from '../text/index.ts';
import { ConfirmDialog } from '../ui/confirm-dialog.tsx';

const words = text.members;

interface LeaveDialogProps {
  readonly session: Session;
  readonly onClose: () => void;
  /** What leaving takes along, where the person may read it. */
  readonly children?: ReactNode;
}

/** Confirms leaving the organization, which also ends the session. */
export function LeaveDialog({ session, onClose, children }: LeaveDialogProps) {
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
      {children}
    </ConfirmDialog>
  );
}
