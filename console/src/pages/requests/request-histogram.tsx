import type { RequestLogEntry } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { RequestFilters } from '../../address/request-search.ts';
import { requestHistogramQuery, UNCOUNTED_FILTERS } from '../../api/request-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { formatCompact, formatCount } from '../../format/numbers.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { useTimeRange } from '../../time-range/use-time-range.ts';
import { TimeChart } from '../../ui/charts/time-chart.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';

const words = text.requests.histogram;
const HEIGHT_PX = 120;
const LIVE_MS = 10_000;

const SERIES = [
  { key: 'completed', tone: 'good' },
  { key: 'failed', tone: 'bad' },
  { key: 'cancelled', tone: 'neutral' },
] as const satisfies readonly { key: RequestLogEntry['state']; tone: string }[];

interface RequestHistogramProps {
  readonly filters: RequestFilters;
  readonly isLive: boolean;
}

/** Requests by final state over time. Dragging narrows the time range. */
export function RequestHistogram({ filters, isLive }: RequestHistogramProps) {
  const { range, choose } = useTimeRange();
  const { can } = useAccess();
  const query = requestHistogramQuery(useApi(), range, filters);
  const histogram = useQuery({
    ...query,
    enabled: can('getTimeseries'),
    refetchInterval: isLive ? LIVE_MS : false,
  });
  const series = useMemo(() => {
    if (histogram.data === undefined) return undefined;
    const byState = new Map(histogram.data.series.map((each) => [each.key, each.points]));
    return SERIES.filter(({ key }) => filters.state === undefined || filters.state === key).map((each) => ({
      ...each,
      label: text.requests.states[each.key],
      points: byState.get(each.key) ?? [],
    }));
  }, [histogram.data, filters.state]);
  const leftOut = UNCOUNTED_FILTERS.filter((name) => filters[name] !== undefined);
  if (histogram.error !== null && histogram.data === undefined) return <ErrorNote error={histogram.error} />;
  return (
    <TimeChart
      title={words.title}
      kind="bar"
      series={series}
      bucket={range.bucket}
      format={formatCount}
      formatTick={formatCompact}
      unit={words.unit}
      heightPx={HEIGHT_PX}
      onSelect={(from, to) => choose({ from, to })}
      note={
        leftOut.length === 0
          ? undefined
          : words.leavesOut(leftOut.map((name) => text.requests.filters.nouns[name]).join(' or '))
      }
    />
  );
}
