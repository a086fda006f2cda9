import type { Timeseries } from '@relay/contract';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { formatCompact, formatCount, formatDuration } from '../../format/numbers.ts';
import { chartSeriesOf } from '../../parts/usage-series.ts';
import { useAccess } from '../../session/use-access.ts';
import { text } from '../../text/index.ts';
import { type TimeRange, timeRangeSearch } from '../../time-range/time-range.ts';
import { TimeRangeMenu } from '../../time-range/time-range-menu.tsx';
import { useTimeRange } from '../../time-range/use-time-range.ts';
import { TimeChart } from '../../ui/charts/time-chart.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyState, ErrorCard } from '../../ui/states.tsx';
import { AlertBanner } from './alert-banner.tsx';
import { EndpointHealth } from './endpoint-health.tsx';
import { Lead } from './lead.tsx';
import { SetupChecklist } from './setup-checklist.tsx';
import { Tiles } from './tiles.tsx';
import { TopList } from './top-list.tsx';
import { seriesNow, useHomeFigures, useTileFigures } from './use-home-figures.ts';
import { useSetup } from './use-setup.ts';

const words = text.home;

/** The home page: health, traffic and spend. */
export function HomePage() {
  const { setup, error } = useSetup();
  const { holds } = useAccess();
  const started = setup === undefined || setup.requests > 0;
  return (
    <Page
      title={text.pages.home}
      description={holds('relay:usage:read:organization') ? undefined : words.onlyMine}
      actions={started ? <TimeRangeMenu /> : undefined}
    >
      <div className="space-y-6">
        <AlertBanner />
        {setup === undefined || error !== null ? null : <SetupChecklist steps={setup.steps} />}
        {started ? <Figures /> : setup.steps.length === 0 ? <NothingYet /> : null}
      </div>
    </Page>
  );
}

/** For callers who cannot set up anything. */
function NothingYet() {
  return <EmptyState title={words.empty} />;
}

function Figures() {
  const { range, choose } = useTimeRange();
  const { can } = useAccess();
  const figures = useHomeFigures(range);
  const tiles = useTileFigures(figures, range);
  const { states, models, keys, p50, p95 } = figures;
  const { from, bucket } = range;
  const waits = useMemo(() => {
    if (p50.data === undefined || p95.data === undefined) return undefined;
    return [
      { key: 'p50', label: words.p50, points: p50.data.series[0]?.points ?? [] },
      { key: 'p95', label: words.p95, points: p95.data.series[0]?.points ?? [] },
    ];
  }, [p50.data, p95.data]);
  const spendByModel = useMemo(() => models.data && seriesNow(models.data, from), [models.data, from]);
  const failed = Object.values(figures).find((each) => each.error !== null && each.data === undefined);
  if (failed !== undefined && failed.error !== null)
    return (
      <ErrorCard
        error={failed.error}
        onRetry={() => {
          for (const each of Object.values(figures)) if (each.isError) void each.refetch();
        }}
      />
    );
  const onSelect = (start: string, end: string) => choose({ from: start, to: end });
  return (
    <>
      <Lead requests={tiles.requests} failed={tiles.failed} isOutdated={states.isError} range={range} />
      <Tiles figures={figures} tiles={tiles} range={range} />
      <div className="grid gap-x-7 gap-y-5 lg:grid-cols-2">
        <Traffic states={states.data} waited={tiles.waited?.value ?? 0} range={range} onSelect={onSelect} />
        <TimeChart
          title={words.waits}
          kind="line"
          series={waits}
          bucket={p95.data?.bucket ?? bucket}
          unit={words.waitUnit}
          format={formatDuration}
          onSelect={onSelect}
        />
      </div>
      <div className="grid gap-x-7 gap-y-5 lg:grid-cols-3">
        <TopList title={words.topModels} group="model" series={spendByModel} />
        <TopList title={words.topKeys} group="api_key" series={keys.data?.series} />
        {can('listEndpoints') ? <EndpointHealth /> : null}
      </div>
      <p className="text-xs text-ink-faint">{text.usage.notAnInvoice}</p>
    </>
  );
}

interface TrafficProps {
  readonly states: Timeseries | undefined;
  readonly waited: number;
  readonly range: TimeRange;
  readonly onSelect: (start: string, end: string) => void;
}

/** Requests by how they were served, and how many Relay kept from failing. */
function Traffic({ states, waited, range: { from, bucket }, onSelect }: TrafficProps) {
  const series = useMemo(
    () => states && chartSeriesOf({ ...states, series: seriesNow(states, from) }),
    [states, from],
  );
  return (
    <div>
      <TimeChart
        title={words.traffic}
        kind="bar"
        series={series}
        bucket={states?.bucket ?? bucket}
        unit={text.usage.units.requests}
        format={formatCount}
        formatTick={formatCompact}
        onSelect={onSelect}
      />
      {waited === 0 ? null : (
        <p className="mt-2 border-l-3 border-wait bg-wait-wash px-3 py-2 text-sm">
          <Link
            to="/requests"
            // The count is of completed requests only.
            search={(before: Record<string, unknown>) => ({
              ...timeRangeSearch(before),
              state: 'completed',
              waited: true,
            })}
            className="link"
          >
            {words.waited(waited)}
          </Link>
        </p>
      )}
    </div>
  );
}
