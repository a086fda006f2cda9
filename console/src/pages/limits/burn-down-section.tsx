import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type HistoryQuestion, limitHistoryQuery } from '../../api/limit-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { burnDown, type Stretch, slidingUse, stretchOf } from '../../parts/burn-down.ts';
import { historyQuestionOf, whyNoHistory } from '../../parts/limit-history.ts';
import { amountOf, shortAmountOf } from '../../parts/limit-metrics.ts';
import { isCalendar } from '../../parts/limit-window.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { TimeChart } from '../../ui/charts/time-chart.tsx';
import { ErrorCard } from '../../ui/states.tsx';
import type { LimitRow } from './limit-row.ts';

const words = text.limits.chart;

/** The remaining amount over the window, or usage against a sliding window. */
export function BurnDownSection({ row, nowMs }: { readonly row: LimitRow; readonly nowMs: number }) {
  const { can } = useAccess();
  // A disabled limit counts nothing.
  if (!row.enabled) return null;
  const stretch = stretchOf(row.period, nowMs);
  const question = stretch === null ? null : historyQuestionOf(row, stretch);
  if (stretch === null || question === null || !can('getTimeseries'))
    return (
      <p className="rounded-lg border bg-sunken px-4 py-3 text-[13px] text-ink-soft">
        {words.none[whyNoHistory(row) ?? 'scope']}
      </p>
    );
  return <BurnDownChart row={row} question={question} stretch={stretch} nowMs={nowMs} />;
}

interface ChartProps {
  readonly row: LimitRow;
  readonly question: HistoryQuestion;
  readonly stretch: Stretch;
  readonly nowMs: number;
}

function BurnDownChart({ row, question, stretch, nowMs }: ChartProps) {
  const history = useQuery({
    ...limitHistoryQuery(useApi(), question),
    placeholderData: keepPreviousData,
  });
  const { usage, metric, period } = row;
  const series = useMemo(() => {
    if (history.data === undefined || usage === null) return undefined;
    if (!isCalendar(period)) {
      const { used, limit } = slidingUse(usage, history.data);
      const label = period === 'second' ? words.usedMean : words.used;
      return [
        { key: 'used', label, points: used },
        { key: 'limit', label: words.limit, tone: 'bad' as const, points: limit },
      ];
    }
    const { left, projected } = burnDown(usage, history.data, stretch, nowMs);
    return [
      { key: 'left', label: words.remaining, points: left },
      { key: 'projected', label: words.projected, tone: 'neutral' as const, points: projected },
    ];
  }, [history.data, usage, period, stretch, nowMs]);
  if (history.error !== null && history.data === undefined)
    return <ErrorCard error={history.error} onRetry={() => void history.refetch()} />;
  return (
    <TimeChart
      title={isCalendar(period) ? words.left[period] : words.use}
      kind="line"
      series={series}
      bucket={stretch.step}
      format={(value) => amountOf(metric, value)}
      formatTick={(value) => shortAmountOf(metric, value)}
      unit={words.units[metric]}
      heightPx={200}
    />
  );
}
