import type { DayTraffic } from '../api/traffic-stats-queries.ts';
import { formatDuration, formatMoneyShort, formatShare } from '../format/numbers.ts';
import { text } from '../text/index.ts';
import { classes } from '../ui/class-names.ts';

interface LaneFigureProps {
  /** Undefined while loading and where unknown. */
  readonly of: DayTraffic | undefined;
}

/** The 95th percentile of a lane's waits. */
export function LaneWait({ of }: LaneFigureProps) {
  return <Figure value={of?.waitMsP95 ?? null} format={formatDuration} tone="text-wait-ink" />;
}

/** The share of a lane's requests that fell back. */
export function LaneFallbacks({ of }: LaneFigureProps) {
  return <Figure value={of?.fallbackRate ?? null} format={formatShare} tone="text-warn" />;
}

/** The cost of a lane's fallbacks. Renders nothing if the cost is 0. */
export function LaneFallbackCost({ of }: LaneFigureProps) {
  const micros = of?.fallbackMicros ?? 0;
  if (micros === 0) return null;
  return (
    <span className="block text-xs whitespace-nowrap text-ink-faint" title={text.lanes.fallbackCost}>
      {formatMoneyShort(micros)}
    </span>
  );
}

/** Faint where there is none. */
function Figure({ value, format, tone }: FigureProps) {
  return (
    <span className={classes('whitespace-nowrap', value === null || value === 0 ? 'text-ink-faint' : tone)}>
      {value === null ? text.states.empty : format(value)}
    </span>
  );
}

interface FigureProps {
  readonly value: number | null;
  readonly format: (value: number) => string;
  readonly tone: string;
}
