import type { GuardrailStats } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { formatCompact, formatCount, formatDuration } from '../../format/numbers.ts';
import type { Bucket } from '../../format/times.ts';
import { keysOf } from '../../format/values.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import type { ChartSeries, ChartTone } from '../../ui/charts/chart-data.ts';
import { TimeChart } from '../../ui/charts/time-chart.tsx';
import { ErrorCard, Skeleton } from '../../ui/states.tsx';

const words = text.guardrails;
const TONES = {
  allowed: 'good',
  flagged: 'warn',
  replaced: undefined,
  blocked: 'bad',
  unavailable: 'neutral',
} as const satisfies Record<keyof typeof words.verdicts, ChartTone | undefined>;
const VERDICTS = keysOf(TONES);
const CHART_PX = 200;

interface GuardrailChartsProps {
  readonly guardrailId: string;
  /** Undefined while loading. */
  readonly stats: GuardrailStats | undefined;
  readonly error: Error | null;
  readonly onRetry: () => void;
  readonly bucket: Bucket;
  readonly onSelect: (from: string, to: string) => void;
}

/** Verdicts and latency, in numbers and over time. */
export function GuardrailCharts({
  guardrailId,
  stats,
  error,
  onRetry,
  bucket,
  onSelect,
}: GuardrailChartsProps) {
  const verdicts = useMemo(() => stats && verdictSeries(stats), [stats]);
  const latencies = useMemo(() => stats && latencySeries(stats), [stats]);
  if (error !== null && stats === undefined) return <ErrorCard error={error} onRetry={onRetry} />;
  return (
    <>
      <Figures guardrailId={guardrailId} total={stats?.total} />
      <TimeChart
        title={words.chart.verdicts}
        kind="bar"
        series={verdicts}
        bucket={bucket}
        format={formatCount}
        formatTick={formatCompact}
        unit={words.chart.requests}
        heightPx={CHART_PX}
        onSelect={onSelect}
      />
      <TimeChart
        title={words.chart.latency}
        kind="line"
        series={latencies}
        bucket={bucket}
        format={formatDuration}
        unit={words.chart.milliseconds}
        heightPx={CHART_PX}
        onSelect={onSelect}
      />
    </>
  );
}

/** Leaves out verdicts that did not occur, except allow and block. */
function verdictSeries({ points, total }: GuardrailStats): ChartSeries[] {
  return VERDICTS.filter(
    (verdict) => verdict === 'allowed' || verdict === 'blocked' || total[verdict] > 0,
  ).map((verdict) => ({
    key: verdict,
    label: words.verdicts[verdict],
    ...(TONES[verdict] === undefined ? {} : { tone: TONES[verdict] }),
    points: points.map((point) => ({ at: point.at, value: point[verdict] })),
  }));
}

function latencySeries({ points }: GuardrailStats): ChartSeries[] {
  return [
    {
      key: 'p50',
      label: words.chart.p50,
      points: points.map(({ at, latency_ms_p50: value }) => ({ at, value })),
    },
    {
      key: 'p95',
      label: words.chart.p95,
      points: points.map(({ at, latency_ms_p95: value }) => ({ at, value })),
    },
  ];
}

interface FiguresProps {
  readonly guardrailId: string;
  readonly total: GuardrailStats['total'] | undefined;
}

function Figures({ guardrailId, total }: FiguresProps) {
  const { can } = useAccess();
  const asked = total && VERDICTS.reduce((sum, verdict) => sum + total[verdict], 0);
  const duration = (ms: number | null | undefined) =>
    ms === undefined ? undefined : ms === null ? text.charts.empty : formatDuration(ms);
  const requests = (verdict: (typeof VERDICTS)[number] | undefined, count: number | undefined): ReactNode => {
    if (count === undefined) return undefined;
    if (count === 0 || !can('listRequests')) return formatCount(count);
    return (
      // The link keeps the time range of this page.
      <Link
        to="/requests"
        search={{ guardrail: guardrailId, ...(verdict && { verdict }) }}
        title={words.figures.requests}
        className="link"
      >
        {formatCount(count)}
      </Link>
    );
  };
  const figures: readonly (readonly [string, ReactNode])[] = [
    [words.figures.asked, requests(undefined, asked)],
    [words.figures.blocked, requests('blocked', total?.blocked)],
    [words.figures.unavailable, requests('unavailable', total?.unavailable)],
    [words.figures.p50, duration(total?.latency_ms_p50)],
    [words.figures.p95, duration(total?.latency_ms_p95)],
  ];
  return (
    <dl className="grid grid-cols-2 border-y sm:grid-cols-5">
      {figures.map(([name, value]) => (
        <div
          key={name}
          className="py-2 pr-3 max-sm:first:col-span-2 sm:border-l sm:pl-3 sm:first:border-l-0 sm:first:pl-0"
        >
          <dt className="text-xs text-ink-faint">{name}</dt>
          <dd className="mt-0.5 text-lg leading-7 font-semibold tabular-nums">
            {value ?? <Skeleton className="my-[7px] w-14" />}
          </dd>
        </div>
      ))}
    </dl>
  );
}
