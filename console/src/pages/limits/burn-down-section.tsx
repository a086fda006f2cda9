import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type HistoryQuestion, limitHistoryQuery } from '../../api/limit-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { amountOf, metricLooks, shortAmountOf } from '../../parts/limit-metrics.ts';
import { isCalendar } from '../../parts/limit-window.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { TimeChart } from '../../ui/charts/time-chart.tsx';
import { ErrorCard } from '../../ui/states.tsx';
import { burnDown, type Stretch, slidingUse, stretchOf } from './burn-down.ts';
import type { LimitRow } from './limit-row.ts';

const words = text.limits.chart;

/** The remaining amount over the window, or usage against a sliding window. */
export function BurnDownSection({ row, nowMs }: { readonly row: LimitRow; readonly nowMs: number }) {
  const { can } = useAccess();
  // A disabled limit counts nothing.
  if (!row.enabled) return null;
  const { series } = metricLooks[row.metric];
  const why = whyNot(row, can('getTimeseries'));
  const stretch = stretchOf(row.period, nowMs);
  if (why !== null || stretch === null || series === null)
    return <p className="rounded-lg border bg-sunken px-4 py-3 text-[13px] text-ink-soft">{why}</p>;
  const question = questionOf(row, series, stretch);
  return <BurnDownChart row={row} question={question} stretch={stretch} nowMs={nowMs} />;
}

function whyNot({ kind, metric, scope }: LimitRow, mayRead: boolean): string | null {
  if (metricLooks[metric].series === null) return words.noConcurrency;
  if (scope === 'credential') return words.noCredential;
  if (kind === 'team') return words.noTeam;
  return mayRead ? null : words.noScope;
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

/** The statistics filter for the requests that the limit counts. */
function questionOf(
  row: LimitRow,
  metric: HistoryQuestion['metric'],
  { startMs, step }: Stretch,
): HistoryQuestion {
  const { kind, subjectId, scope, scopeId } = row;
  const from = new Date(startMs).toISOString();
  const whose =
    subjectId === null ? {} : kind === 'user' ? { user_uuid: subjectId } : { api_key_id: subjectId };
  return { metric, bucket: step, from, ...whose, ...whereOf(scope, scopeId) };
}

function whereOf(scope: LimitRow['scope'], id: string | null): Partial<HistoryQuestion> {
  if (id === null) return {};
  if (scope === 'lane') return { lane_id: id };
  if (scope === 'provider') return { provider_id: id };
  return scope === 'endpoint' || scope === 'model' ? { endpoint_id: id } : {};
}
