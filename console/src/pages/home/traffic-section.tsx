import type { Timeseries } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { formatCompact, formatCount } from '../../format/numbers.ts';
import { chartSeriesOf } from '../../parts/usage-series.ts';
import { text } from '../../text/index.ts';
import type { TimeRange } from '../../time-range/time-range.ts';
import { TimeChart } from '../../ui/charts/time-chart.tsx';
import { Totals } from './totals.tsx';
import { seriesNow, type useHomeFigures, type useTotals } from './use-home-figures.ts';

const words = text.home;

/** As high as the totals beside it. */
const HEIGHT_PX = 270;

interface TrafficSectionProps {
  readonly figures: ReturnType<typeof useHomeFigures>;
  readonly totals: ReturnType<typeof useTotals>;
  readonly range: TimeRange;
  readonly onSelect: (start: string, end: string) => void;
}

/** Requests over time by how they were served, what they come to, and how many Relay kept from failing. */
export function TrafficSection({ figures, totals, range, onSelect }: TrafficSectionProps) {
  return (
    <div className="grid gap-x-7 gap-y-5 lg:grid-cols-[minmax(0,1fr)_22rem]">
      <Chart states={figures.states.data} range={range} onSelect={onSelect} />
      <div>
        <Totals figures={figures} totals={totals} range={range} />
        <Waited count={totals.waited?.value ?? 0} />
      </div>
    </div>
  );
}

interface ChartProps {
  readonly states: Timeseries | undefined;
  readonly range: TimeRange;
  readonly onSelect: (start: string, end: string) => void;
}

function Chart({ states, range: { from, bucket }, onSelect }: ChartProps) {
  const series = useMemo(
    () => states && chartSeriesOf({ ...states, series: seriesNow(states, from) }),
    [states, from],
  );
  return (
    <TimeChart
      title={words.traffic}
      kind="bar"
      series={series}
      bucket={states?.bucket ?? bucket}
      unit={text.usage.units.requests}
      format={formatCount}
      formatTick={formatCompact}
      heightPx={HEIGHT_PX}
      onSelect={onSelect}
    />
  );
}

function Waited({ count }: { readonly count: number }): ReactNode {
  if (count === 0) return null;
  return (
    <p className="mt-3 border-l-3 border-wait bg-wait-wash px-3 py-2 text-sm">
      <Link
        to="/requests"
        // The count is of completed requests only.
        search={{ state: 'completed', waited: true }}
        className="link"
      >
        {words.waited(count)}
      </Link>
    </p>
  );
}
