import { classes } from './class-names.ts';

interface WaitBarProps {
  readonly waitMs: number;
  readonly restMs: number;
  readonly failed: boolean;
  /** The same for every row of a table. */
  readonly scaleMs: number;
  readonly className?: string;
}

/** One request: its wait, then the rest of its time. Show the same values as text next to it. */
export function WaitBar({ waitMs, restMs, failed, scaleMs, className }: WaitBarProps) {
  const width = (milliseconds: number) => `${Math.min(100, (milliseconds / scaleMs) * 100)}%`;
  return (
    <span aria-hidden className={classes('flex h-2 w-[120px] overflow-hidden', className)}>
      {waitMs > 0 ? (
        <span
          className="bg-wait shadow-[inset_0_0_0_1px_var(--wait-edge)]"
          style={{ width: width(waitMs) }}
        />
      ) : null}
      <span
        className={classes(
          'min-w-[2px]',
          failed
            ? 'bg-[repeating-linear-gradient(115deg,var(--chart-bad)_0_3px,transparent_3px_5px)] shadow-[inset_0_0_0_1px_var(--chart-bad)]'
            : 'bg-served',
        )}
        style={{ width: width(restMs) }}
      />
    </span>
  );
}
