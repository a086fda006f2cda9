import { type ComponentProps, type ReactNode, useId } from 'react';
import { classes } from './class-names.ts';

export interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly optional?: string;
  /** Renders the control with the IDs that connect it to its label, hint and error. */
  readonly children: (control: ControlProps) => ReactNode;
}

export interface ControlProps {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': true | undefined;
}

export function Field({ label, hint, error, optional, children }: FieldProps) {
  const id = useId();
  const described = [
    hint === undefined ? null : `${id}-hint`,
    error === undefined ? null : `${id}-error`,
  ].filter((each) => each !== null);
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-[5px] flex items-baseline gap-2 text-xs font-medium">
        {label}
        {optional === undefined ? null : (
          <span className="text-xs font-normal text-ink-faint">{optional}</span>
        )}
      </label>
      {children({
        id,
        'aria-describedby': described.length === 0 ? undefined : described.join(' '),
        'aria-invalid': error === undefined ? undefined : true,
      })}
      {error === undefined ? null : (
        <p id={`${id}-error`} className="mt-1.5 text-xs text-bad">
          {error}
        </p>
      )}
      {hint === undefined ? null : (
        <p id={`${id}-hint`} className="mt-1.5 text-xs text-ink-faint">
          {hint}
        </p>
      )}
    </div>
  );
}

const controlLook = classes(
  'w-full rounded-lg border border-line-strong bg-panel px-2.5 text-sm text-ink placeholder:text-ink-faint',
  'aria-invalid:border-bad disabled:opacity-60 focus-visible:outline-offset-0',
);

export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return (
    <input
      data-autofocus={rest.autoFocus}
      className={classes(controlLook, 'h-8 max-sm:h-9', className)}
      {...rest}
    />
  );
}

export function TextArea({ className, ...rest }: ComponentProps<'textarea'>) {
  return (
    <textarea data-autofocus={rest.autoFocus} className={classes(controlLook, 'py-2', className)} {...rest} />
  );
}

/** The browser's native select, which works with every keyboard, screen reader and phone. */
export function Select({ className, ...rest }: ComponentProps<'select'>) {
  return (
    <select
      className={classes(controlLook, 'h-9 pr-8 supports-[appearance:base-select]:pr-2', className)}
      {...rest}
    />
  );
}

interface CheckProps extends Omit<ComponentProps<'input'>, 'type'> {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
}

/** A checkbox with a label and a hint. */
export function Check({ label, hint, className, ...rest }: CheckProps) {
  const id = useId();
  return (
    <div className={classes('flex items-start gap-2.5', className)}>
      <input
        type="checkbox"
        id={id}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        className="mt-[3px] size-4 shrink-0 accent-ink"
        {...rest}
      />
      <div className="min-w-0">
        <label htmlFor={id} className="text-[13px] font-medium">
          {label}
        </label>
        {hint === undefined ? null : (
          <p id={`${id}-hint`} className="text-xs text-ink-faint">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}
