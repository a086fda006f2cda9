import type { Timeseries } from '@relay/contract';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import { Download } from 'lucide-react';
import { useMemo } from 'react';
import type { UsageFilterName } from '../../address/usage-search.ts';
import { statsSummaryQuery } from '../../api/usage-queries.ts';
import { useApi } from '../../api/use-api.ts';
import { formatBucket } from '../../format/times.ts';
import { SpendPages } from '../../parts/spend-pages.tsx';
import { type MetricLook, metricLook } from '../../parts/usage-metrics.ts';
import { chartSeriesOf } from '../../parts/usage-series.ts';
import { useKeylessName } from '../../session/use-keyless-name.ts';
import { text } from '../../text/index.ts';
import { TimeRangeMenu } from '../../time-range/time-range-menu.tsx';
import { Button } from '../../ui/button.tsx';
import { TimeChart } from '../../ui/charts/time-chart.tsx';
import { classes } from '../../ui/class-names.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Page } from '../../ui/page.tsx';
import { saveText } from '../../ui/save-text.ts';
import { EmptyState, ErrorCard, NothingMatches } from '../../ui/states.tsx';
import { csvName, csvOf } from './csv.ts';
import { rankedRows, wholeOf } from './ranked-rows.ts';
import { Ranking } from './ranking.tsx';
import { UsageControls, UsageFilterBar } from './usage-controls.tsx';
import { useUsage } from './use-usage.ts';

const words = text.usage;
/** More bars would be too thin. */
const BARS_MAX = 100;

interface UsageProps {
  readonly usage: ReturnType<typeof useUsage>;
}

export function UsagePage() {
  const usage = useUsage();
  const { choice, change, answer } = usage;
  const { data } = answer;
  const empty = data !== undefined && !answer.isPlaceholderData && isEmpty(data);
  const filtered = Object.keys(choice.filters).length > 0;
  const summary = useQuery({ ...statsSummaryQuery(useApi()), enabled: empty && !filtered });
  return (
    <Page
      title={text.pages.usage}
      description={<SpendPages here="/usage" />}
      actions={<Actions usage={usage} />}
    >
      <div className="space-y-4">
        <div className="space-y-2">
          <UsageControls choice={choice} change={change} />
          <UsageFilterBar choice={choice} change={change} />
        </div>
        {answer.error !== null && data === undefined ? (
          <ErrorCard error={answer.error} onRetry={() => void answer.refetch()} />
        ) : empty && filtered ? (
          <NothingMatches onClear={change.clear} />
        ) : empty && summary.data?.requests === 0 ? (
          <NothingYet />
        ) : (
          <Figures usage={usage} />
        )}
      </div>
    </Page>
  );
}

function Actions({ usage: { choice, answer } }: UsageProps) {
  // The response to another choice is still shown, faded, until this one's arrives.
  const data = answer.isPlaceholderData ? undefined : answer.data;
  const keyless = useKeylessName();
  const isFiltered = Object.keys(choice.filters).length > 0;
  const address = `${window.location.origin}${useLocation().publicHref}`;
  return (
    <>
      <CopyButton worded value={address} label={words.copyLink} />
      <Button
        aria-label={words.csvLabel}
        disabled={data === undefined}
        onClick={() => {
          if (data !== undefined) saveText(csvName(data, isFiltered), 'text/csv', csvOf(data, keyless));
        }}
      >
        <Download aria-hidden className="size-4" />
        {words.csv}
      </Button>
      <TimeRangeMenu />
    </>
  );
}

function NothingYet() {
  return (
    <EmptyState
      title={words.empty}
      action={
        <Button asChild look="solid">
          <Link to="/playground">{words.toPlayground}</Link>
        </Button>
      }
    />
  );
}

/** The filter for each grouping; models and states have none. */
const FILTER_OF: Partial<Record<Timeseries['group_by'], UsageFilterName>> = {
  provider: 'provider',
  lane: 'lane',
  endpoint: 'endpoint',
  api_key: 'key',
  user: 'user',
};

function Figures({ usage }: UsageProps) {
  const { choice, change, answer, chooseRange } = usage;
  const { data } = answer;
  // Describes the displayed response, which may still be the previous one.
  const shown = data ?? { metric: choice.metric, group_by: choice.by, bucket: choice.bucket };
  const look = useMemo(() => metricLook(shown.metric), [shown.metric]);
  const keyless = useKeylessName();
  const series = useMemo(
    () => (data === undefined ? undefined : chartSeriesOf(data, keyless)),
    [data, keyless],
  );
  const rows = useMemo(
    () => (data === undefined ? undefined : rankedRows(data, look.adds, keyless)),
    [data, look.adds, keyless],
  );
  const title =
    shown.group_by === 'none' ? look.label : words.titleBy(look.label, words.groupsInTitle[shown.group_by]);
  const filter = FILTER_OF[shown.group_by];
  const onOpen = useMemo(
    () => (filter === undefined ? undefined : (id: string) => change.set({ [filter]: id, by: 'model' })),
    [filter, change],
  );
  const points = series?.[0]?.points.length ?? 0;
  return (
    <div
      className={classes('space-y-4', answer.isPlaceholderData && 'opacity-60')}
      aria-busy={answer.isPlaceholderData || undefined}
    >
      <TimeChart
        title={title}
        kind={look.adds ? (points <= BARS_MAX ? 'bar' : 'area') : 'line'}
        series={series}
        bucket={shown.bucket}
        unit={look.unit}
        format={look.format}
        formatTick={look.formatTick}
        heightPx={300}
        onSelect={(from, to) => chooseRange({ from, to })}
      />
      <Totals data={data} look={look} />
      {shown.group_by === 'none' || rows === undefined ? null : (
        <Ranking
          title={title}
          group={words.groups[shown.group_by]}
          look={look}
          bucket={shown.bucket}
          rows={rows}
          total={data === undefined || !look.adds ? null : (wholeOf(data, true)?.total ?? null)}
          onOpen={onOpen}
        />
      )}
      {look.isMoney && data !== undefined ? (
        <p className="text-xs text-ink-faint">{words.notAnInvoice}</p>
      ) : null}
    </div>
  );
}

interface TotalsProps {
  readonly data: Timeseries | undefined;
  readonly look: MetricLook;
}

/** Total, mean and peak of the chart. */
function Totals({ data, look }: TotalsProps) {
  const whole = data === undefined ? null : wholeOf(data, look.adds);
  if (data === undefined || whole === null) return null;
  const { total, mean, peak, unpriced } = whole;
  const figures = [
    [look.adds ? words.total : words.overall, total === null ? look.none : look.formatShort(total)],
    ...(mean === null || (!look.isMoney && mean < 1)
      ? []
      : [[words.mean[data.bucket], look.formatShort(mean)]]),
    ...(peak === null
      ? []
      : [[words.peak, words.at(look.formatShort(peak.value), formatBucket(peak.at, data.bucket))]]),
    ...(total === null || unpriced === 0 ? [] : [['', text.unpriced.excludes(unpriced)]]),
  ];
  return (
    <dl className="flex flex-wrap gap-x-8 gap-y-2 text-[13px]">
      {figures.map(([name, value]) => (
        <div key={name} className="flex gap-2">
          <dt className="text-ink-faint">{name}</dt>
          <dd className="font-medium tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function isEmpty({ series }: Timeseries): boolean {
  return !series.some(({ total, unpriced_requests: unpriced = 0 }) => (total ?? 0) > 0 || unpriced > 0);
}
