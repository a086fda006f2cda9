import type { ReactNode } from 'react';
import { text } from '../text/index.ts';
import { Button } from './button.tsx';
import { Dialog, DialogActions, DialogBody } from './dialog.tsx';
import { ErrorNote } from './error-note.tsx';

export interface ConfirmDialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  /** The consequences. */
  readonly children: ReactNode;
  readonly action: string;
  /** Disables the action; the content explains why. */
  readonly blocked?: boolean;
  readonly tone?: 'danger' | 'solid';
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onConfirm: () => void;
}

/** Confirms an action that cannot be undone or has further consequences. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  return (
    <Dialog open={props.open} onOpenChange={props.onOpenChange} title={props.title}>
      <DialogBody>
        <div className="space-y-3 text-ink-soft">{props.children}</div>
        <ErrorNote error={props.error} className="mt-4" />
      </DialogBody>
      <DialogActions>
        <Button onClick={() => props.onOpenChange(false)}>{text.actions.cancel}</Button>
        <Button
          look={props.tone ?? 'danger'}
          busy={props.busy}
          disabled={props.blocked === true}
          onClick={props.onConfirm}
        >
          {props.action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
