import type { ReactNode } from 'react';
import { classes } from './class-names.ts';

interface PlateProps {
  /** A duration, such as `0.8 s`. */
  readonly children: ReactNode;
  readonly size?: 'small' | 'medium' | 'big';
}

const SIZES = {
  small: 'h-4 px-1 text-[11px] leading-4',
  medium: 'h-5 px-1.5 text-xs leading-5',
  big: 'h-[34px] rounded-[4px] px-2.5 text-xl leading-[34px]',
} as const;

/** Black with yellow digits: a wait, a countdown or the wait allowed. Never a count or an amount. */
export function Plate({ children, size = 'medium' }: PlateProps) {
  return (
    <span
      className={classes(
        'inline-flex items-center justify-end rounded-[3px] border align-middle font-mono whitespace-nowrap [word-spacing:-0.3em]',
        'border-board-line bg-board text-signal',
        SIZES[size],
      )}
    >
      {children}
    </span>
  );
}
