import { useBlocker } from '@tanstack/react-router';
import { text } from '../../text/index.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';

const words = text.lanes.editor;

/** Asks before a link, the browser's buttons or a closed tab take unsaved changes away. */
export function DiscardGuard({ isDirty }: { readonly isDirty: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  });
  return (
    <ConfirmDialog
      open={status === 'blocked'}
      onOpenChange={(open) => {
        if (!open) reset?.();
      }}
      title={words.discardTitle}
      action={words.discard}
      busy={false}
      error={null}
      onConfirm={() => proceed?.()}
    >
      <p>{words.discardHint}</p>
    </ConfirmDialog>
  );
}
