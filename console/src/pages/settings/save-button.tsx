import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';

/** Saves the form of a panel; disabled while nothing is changed. */
export function SaveButton({ busy, disabled }: { readonly busy: boolean; readonly disabled: boolean }) {
  return (
    <Button type="submit" look="solid" size="small" busy={busy} disabled={disabled}>
      {text.actions.save}
    </Button>
  );
}
