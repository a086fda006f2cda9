import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { UsageMetric, UsageSearch } from '../../address/usage-search.ts';
import {
  formatChange,
  formatCompact,
  formatCount,
  formatDuration,
  formatMoneyShort,
  formatPoints,
  formatShare,
} from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import type { TimeRange } from '../../time-range/time-range.ts';
import { classes } from '../../ui/class-names.ts';
import { Panel } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { troubleOf, useFailures } from './use-failures.ts';
import type { Figure, useHomeFigures, useTotals } from './use-home-figures.ts';

const words = text.home;
const outcomes = text.usage.outcomes;
const COMPACT_FROM = 100_000;

interface TotalsProps {
  readonly figures: ReturnType<typeof useHomeFigures>;
  readonly totals: ReturnType<typeof useTotals>;
  readonly range: TimeRange;
}

/** What the range comes to: each value with its share of the requests and its change. */
export function Totals({ figures, totals, range }: TotalsProps) {
  const { requests, immediate, waited, failed, cancelled, spend, tokens } = totals;
  const all = requests?.value ?? 0;
  const { blocked, areFailuresLoading } = useFailures(range);
  const trouble = failed === undefined || areFailuresLoading ? undefined : troubleOf(failed, blocked);
  return (
    <Panel
      title={words.totals}
      actions={<span className="text-xs text-ink-faint">{words.before[range.name ?? 'other']}</span>}
    >
      <dl className="px-4">
        <Row
          label={words.rows.requests}
          to={{ metric: 'requests', by: 'service' }}
          value={requests && shortCount(requests.value)}
          change={<Growth change={requests?.change} />}
        />
        <OutcomeRow label={outcomes.immediate} figure={immediate} all={all} />
        <OutcomeRow label={outcomes.waited} figure={waited} all={all} />
        <Row
          label={outcomes.failed}
          to={{ metric: 'errors', by: 'endpoint' }}
          value={trouble && shortCount(trouble.value)}
          share={trouble === undefined ? null : shareOf(trouble.value, all)}
          change={trouble && requests && <PointsMore failed={trouble} requests={requests} />}
        />
        {blocked.now === 0 ? null : (
          <Row
            label={words.rows.blocked}
            value={shortCount(blocked.now)}
            share={shareOf(blocked.now, all)}
            change={null}
          />
        )}
        {cancelled === undefined || cancelled.value === 0 ? null : (
          <OutcomeRow label={outcomes.cancelled} figure={cancelled} all={all} />
        )}
        <WaitRow figures={figures} />
        <Row
          label={words.rows.tokens}
          to={{ metric: 'total_tokens', by: 'model' }}
          value={tokens && shortCount(tokens.value)}
          change={<Growth change={tokens?.change} />}
        />
        <Row
          label={words.rows.spend}
          to={{ metric: 'cost_micros', by: 'model' }}
          value={spend && (isUnpriced(spend) ? text.unpriced.noPrice : formatMoneyShort(spend.value))}
          change={<Growth change={spend?.change} />}
        />
      </dl>
    </Panel>
  );
}

function isUnpriced({ value, unpriced }: Figure): boolean {
  return value === 0 && unpriced > 0;
}

function OutcomeRow({ label, figure, all }: { label: string; figure: Figure | undefined; all: number }) {
  return (
    <Row
      label={label}
      value={figure && shortCount(figure.value)}
      share={figure === undefined ? null : shareOf(figure.value, all)}
      change={<Growth change={figure?.change} />}
    />
  );
}

function WaitRow({ figures: { p50, p95, p95Before } }: Pick<TotalsProps, 'figures'>) {
  const [middle, high] = [p50.data?.series[0]?.total, p95.data?.series[0]?.total];
  const before = p95Before.data?.series[0]?.total;
  const isLoaded = p50.data !== undefined && p95.data !== undefined;
  return (
    <Row
      label={words.rows.wait}
      to={{ metric: 'wait_ms_p95', by: 'lane' }}
      value={isLoaded ? `${durationOf(middle)} / ${durationOf(high)}` : undefined}
      change={
        <Growth
          change={high == null || before == null || before === 0 ? null : high / before - 1}
          isBadIfMore
        />
      }
    />
  );
}

interface RowProps {
  readonly label: string;
  /** The chart of the value. */
  readonly to?: { readonly metric: UsageMetric; readonly by: NonNullable<UsageSearch['by']> };
  /** Undefined while loading. */
  readonly value: string | undefined;
  /** Of all requests, for a part of them. */
  readonly share?: number | null;
  readonly change: ReactNode;
}

function Row({ label, to, value, share, change }: RowProps) {
  return (
    <div
      className={classes(
        'relative grid h-[31px] grid-cols-[minmax(0,1fr)_auto_3rem_4rem] items-center gap-3 border-b tabular-nums',
        to !== undefined && 'hover:bg-hover',
      )}
    >
      <dt className={classes('truncate', share !== undefined && 'pl-3')}>
        {to === undefined ? (
          label
        ) : (
          <Link
            to="/usage"
            search={to}
            title={words.openIn(label)}
            className="after:absolute after:inset-0 after:content-['']"
          >
            {label}
          </Link>
        )}
      </dt>
      <dd className="text-right font-medium">{value ?? <Skeleton className="w-14" />}</dd>
      <dd className="text-right text-xs text-ink-faint">{share == null ? null : formatShare(share)}</dd>
      <dd className="text-right text-xs">{value === undefined ? null : change}</dd>
    </div>
  );
}

interface GrowthProps {
  readonly change: number | null | undefined;
  readonly format?: (change: number) => string;
  /** Smaller changes are shown as no change. */
  readonly stillBelow?: number;
  readonly isBadIfMore?: boolean;
}

function Growth({ change, format = formatChange, stillBelow = 0.005, isBadIfMore = false }: GrowthProps) {
  if (change == null) return <span className="text-ink-faint">{words.none}</span>;
  const isBad = isBadIfMore && change >= stillBelow;
  return <span className={isBad ? 'text-bad' : 'text-ink-soft'}>{format(change)}</span>;
}

/** The change of the share that failed, in percentage points. */
function PointsMore({
  failed,
  requests,
}: Readonly<Record<'failed' | 'requests', Pick<Figure, 'value' | 'before'>>>) {
  const [now, before] = [shareOf(failed.value, requests.value), shareOf(failed.before, requests.before)];
  return (
    <Growth
      change={now === null || before === null ? null : now - before}
      format={(change) => words.points(formatPoints(change))}
      stillBelow={0.0005}
      isBadIfMore
    />
  );
}

function shareOf(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

function durationOf(ms: number | null | undefined): string {
  return ms == null ? words.none : formatDuration(ms);
}

function shortCount(value: number): string {
  return value < COMPACT_FROM ? formatCount(value) : formatCompact(value);
}
