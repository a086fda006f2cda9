import { formatDuration } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';

const WIDTH = 40;
/** Where the scale ends. */
const MS_MAX = 10_000;
/** Below a few of these the scale is nearly linear, above it logarithmic. */
const BEND_MS = 50;

interface TtftCellProps {
  readonly p50: number | null;
  readonly p95: number | null;
}

/** Time to first token: the range from p50 to p95 on a scale that all rows share, and both as text. */
export function TtftCell({ p50, p95 }: TtftCellProps) {
  if (p50 === null || p95 === null)
    return (
      <span className="inline-block min-w-[92px] text-ink-faint xl:min-w-[140px]">{text.states.empty}</span>
    );
  const [from, to] = [placeOf(p50), placeOf(p95)];
  return (
    <span className="flex items-center justify-end gap-1.5 whitespace-nowrap">
      <svg
        aria-hidden="true"
        viewBox={`0 0 ${WIDTH + 2} 14`}
        width={WIDTH + 2}
        height={14}
        className="shrink-0 max-xl:hidden"
      >
        <rect y="6.5" width={WIDTH + 2} height="1" className="fill-line" />
        <rect x={from} y="5" width={to - from} height="4" className="fill-served-soft" />
        <rect x={from} y="2" width="2" height="10" className="fill-ink" />
        <rect x={to} y="2" width="2" height="10" className="fill-ink-faint" />
      </svg>
      <span className="min-w-[92px] text-right">
        {formatDuration(p50)}
        <span className="text-ink-faint">
          {' · '}
          {formatDuration(p95)}
        </span>
      </span>
    </span>
  );
}

function placeOf(durationMs: number): number {
  const place = Math.log10(durationMs / BEND_MS + 1) / Math.log10(MS_MAX / BEND_MS + 1);
  return Math.round(Math.min(1, place) * WIDTH * 10) / 10;
}
