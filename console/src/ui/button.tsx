import { LoaderCircle } from 'lucide-react';
import { Slot } from 'radix-ui';
import type { ComponentProps } from 'react';
import { classes } from './class-names.ts';

const LOOKS = {
  solid: 'bg-solid text-on-solid hover:bg-solid-hover border-transparent',
  outline: 'bg-panel text-ink border-line-strong hover:bg-hover',
  quiet: 'bg-transparent text-ink-soft border-transparent hover:bg-hover hover:text-ink',
  danger: 'bg-bad-solid text-white border-transparent hover:opacity-90',
} as const;

const SIZES = {
  small: 'h-[26px] max-sm:h-9 px-2 text-xs gap-1.5',
  medium: 'h-[30px] max-sm:h-9 px-[11px] text-sm gap-[7px]',
  icon: 'size-7 max-sm:size-9 justify-center',
} as const;

export interface ButtonProps extends ComponentProps<'button'> {
  readonly look?: keyof typeof LOOKS;
  readonly size?: keyof typeof SIZES;
  /** Shows progress, keeps its width and ignores clicks. */
  readonly busy?: boolean;
  /** Renders its child, such as a link, as a button. */
  readonly asChild?: boolean;
}

export function Button(props: ButtonProps) {
  const { look = 'outline', size = 'medium', busy = false, asChild = false, className, ...rest } = props;
  const classNames = classes(
    'inline-flex shrink-0 items-center justify-center rounded-lg border font-medium whitespace-nowrap select-none',
    'disabled:opacity-45 disabled:pointer-events-none',
    LOOKS[look],
    SIZES[size],
    className,
  );
  if (asChild) return <Slot.Root className={classNames} {...rest} />;
  const { children, disabled, ...button } = rest;
  return (
    <button
      type="button"
      className={classNames}
      disabled={disabled === true || busy}
      aria-busy={busy || undefined}
      {...button}
    >
      {busy ? <LoaderCircle aria-hidden className="size-4 animate-spin" /> : null}
      {children}
    </button>
  );
}

/** A button with an icon only; the label is for screen readers. */
export function IconButton({ label, ...rest }: ButtonProps & { readonly label: string }) {
  return <Button look="quiet" size="icon" aria-label={label} title={label} {...rest} />;
}
