import { TriangleAlert } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { text } from '../text/index.ts';
import { Button } from './button.tsx';
import { Dialog, DialogActions, DialogBody } from './dialog.tsx';
import { Check } from './field.tsx';

interface ShownOnceDialogProps {
  readonly title: string;
  /** The note that the value is shown once, unless it stands beside the value. */
  readonly warning?: string;
  readonly wide?: boolean;
  /** If present, must be checked before the dialog closes. */
  readonly savedLabel?: string;
  /** Further buttons beside the one that closes. */
  readonly actions?: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Shows a value that cannot be shown again; Escape and outside clicks do not close the dialog. */
export function ShownOnceDialog({
  title,
  warning,
  wide = false,
  savedLabel,
  actions,
  onClose,
  children,
}: ShownOnceDialogProps) {
  const [saved, setSaved] = useState(false);
  const isHeld = savedLabel !== undefined && !saved;
  return (
    <Dialog
      open
      wide={wide}
      locked={savedLabel === undefined || !saved}
      onOpenChange={onClose}
      title={title}
      {...(warning !== undefined && {
        description: (
          <span className="flex items-start gap-2 text-warn">
            <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
            {warning}
          </span>
        ),
      })}
    >
      <DialogBody>
        <div className="space-y-5">{children}</div>
      </DialogBody>
      <DialogActions>
        {savedLabel === undefined ? null : (
          <Check
            label={savedLabel}
            checked={saved}
            className="mr-auto self-center"
            onChange={(event) => setSaved(event.target.checked)}
          />
        )}
        {actions}
        <Button look="solid" disabled={isHeld} onClick={onClose}>
          {text.actions.done}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
