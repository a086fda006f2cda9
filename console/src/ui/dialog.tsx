import { X } from 'lucide-react';
import { Dialog as Primitive } from 'radix-ui';
import type { ReactNode } from 'react';
import { text } from '../text/index.ts';
import { Button, IconButton } from './button.tsx';
import { classes } from './class-names.ts';

export interface DialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  readonly description?: ReactNode;
  readonly children: ReactNode;
  /** `panel` slides in from the side at full height, for long content. */
  readonly shape?: 'box' | 'panel';
  readonly wide?: boolean;
  /** Hides the close button and ignores Escape and outside clicks. */
  readonly locked?: boolean;
}

const SHAPES = {
  box: 'left-1/2 top-[8vh] -translate-x-1/2 w-[calc(100vw-2rem)] max-h-[84vh] rounded-xl border-t-[3px] border-rule',
  panel: 'right-0 top-0 h-dvh w-full border-l',
} as const;

export function Dialog(props: DialogProps) {
  const { shape = 'box', wide = false, locked = false } = props;
  const stay = (event: Event) => {
    if (locked) event.preventDefault();
  };
  return (
    <Primitive.Root open={props.open} onOpenChange={props.onOpenChange}>
      <Primitive.Portal>
        <Primitive.Overlay className="fixed inset-0 z-40 bg-shade" />
        <Primitive.Content
          className={classes(
            'fixed z-50 flex flex-col bg-raised text-ink shadow-raised focus:outline-none',
            SHAPES[shape],
            shape === 'panel' ? (wide ? 'max-w-3xl' : 'max-w-xl') : wide ? 'max-w-2xl' : 'max-w-lg',
          )}
          onOpenAutoFocus={focusMarked}
          onEscapeKeyDown={stay}
          onPointerDownOutside={stay}
          onInteractOutside={stay}
          {...(props.description === undefined ? { 'aria-describedby': undefined } : {})}
        >
          <header className="flex items-start gap-4 px-5 pt-4 pb-2">
            <div className="min-w-0 flex-1">
              <Primitive.Title className="text-xl font-semibold tracking-[-0.01em]">
                {props.title}
              </Primitive.Title>
              {props.description === undefined ? null : (
                <Primitive.Description className="mt-1 text-[13px] text-ink-soft">
                  {props.description}
                </Primitive.Description>
              )}
            </div>
            {locked ? null : (
              <Primitive.Close asChild>
                <IconButton label={text.actions.close} className="-mr-1.5 -mt-1">
                  <X aria-hidden className="size-4" />
                </IconButton>
              </Primitive.Close>
            )}
          </header>
          {props.children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

/** The field marked with `data-autofocus`: over another dialog, which keeps its focus until this one is open, `autoFocus` comes too early. */
function focusMarked(event: Event): void {
  const marked = event.target instanceof HTMLElement && event.target.querySelector('[data-autofocus]');
  if (!(marked instanceof HTMLElement)) return;
  event.preventDefault();
  marked.focus();
}

export function DialogBody({ children }: { readonly children: ReactNode }) {
  return <div className="min-h-0 flex-1 overflow-y-auto px-5 py-4">{children}</div>;
}

interface FormActionsProps {
  readonly onCancel: () => void;
  readonly busy: boolean;
  readonly disabled?: boolean;
  readonly look?: 'solid' | 'danger';
  /** In a dialog without a form. */
  readonly onSave?: () => void;
  /** The label of the button that saves. */
  readonly children: ReactNode;
}

/** Cancel, and submit the form around it or save. */
export function FormActions({
  onCancel,
  busy,
  disabled = false,
  look = 'solid',
  onSave,
  children,
}: FormActionsProps) {
  return (
    <DialogActions>
      <Button onClick={onCancel}>{text.actions.cancel}</Button>
      <Button
        type={onSave === undefined ? 'submit' : 'button'}
        look={look}
        busy={busy}
        disabled={disabled}
        onClick={onSave}
      >
        {children}
      </Button>
    </DialogActions>
  );
}

export function DialogActions({ children }: { readonly children: ReactNode }) {
  return <footer className="flex flex-wrap justify-end gap-2 border-t px-5 py-3">{children}</footer>;
}
