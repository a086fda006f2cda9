import { classes } from './class-names.ts';

/** Room left; at its limit, so that requests wait; a forecast exceeds it; used up, so that requests are rejected. */
export type Fill = 'room' | 'full' | 'close' | 'over';

const FILLS: Record<Fill, string> = {
  room: 'bg-served',
  full: 'bg-wait shadow-[inset_0_0_0_1px_var(--wait-edge)]',
  close: 'bg-warn',
  over: 'bg-bad',
};
const HATCHES: Record<Fill, string> = {
  room: '[--hatch:var(--served)]',
  full: '[--hatch:var(--wait-edge)]',
  close: '[--hatch:var(--warn)]',
  over: '[--hatch:var(--bad)]',
};

interface MeterProps {
  /** From 0 to 1. */
  readonly share: number;
  /** What is reserved or forecast beyond it, hatched. */
  readonly more?: number;
  readonly fill?: Fill;
  readonly className?: string;
}

/** How much of a capacity is taken. Show the same values as text next to it. */
export function Meter({ share, more = 0, fill = 'room', className }: MeterProps) {
  const taken = Math.min(1, Math.max(0, share));
  const hatched = Math.min(1 - taken, Math.max(0, more));
  return (
    <span
      aria-hidden
      className={classes(
        'flex h-1.5 overflow-hidden rounded-[1px] bg-sunken shadow-[inset_0_0_0_1px_var(--line)]',
        className,
      )}
    >
      <span className={classes('h-full', FILLS[fill])} style={{ width: `${taken * 100}%` }} />
      <span
        className={classes(
          'h-full bg-[repeating-linear-gradient(115deg,var(--hatch)_0_1.5px,transparent_1.5px_4px)]',
          HATCHES[fill],
        )}
        style={{ width: `${hatched * 100}%` }}
      />
    </span>
  );
}
