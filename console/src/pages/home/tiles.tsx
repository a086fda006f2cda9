import { Link } from '@tanstack/react-router';
import { ArrowDownRight, ArrowUpRight, Minus } from 'lucide-react';
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
import { Skeleton } from '../../ui/states.tsx';
import { isSpendKnown } from './known-spend.ts';
import type { useHomeFigures, useTileFigures } from './use-home-figures.ts';

const words = text.home;
const COMPACT_FROM = 100_000;

interface TilesProps {
  readonly figures: ReturnType<typeof useHomeFigures>;
  readonly tiles: ReturnType<typeof useTileFigures>;
  readonly range: TimeRange;
}

/** Five values of the range, each with its change and a link to its chart. */
export function Tiles({ figures, tiles, range }: TilesProps) {
  const { requests, failed, spend, tokens } = tiles;
  const [p95, p95Before] = [figures.p95.data, figures.p95Before.data];
  const wait = p95?.series[0]?.total;
  const waitBefore = p95Before?.series[0]?.total;
  const shares =
    requests === undefined || failed === undefined
      ? undefined
      : { now: shareOf(failed.value, requests.value), before: shareOf(failed.before, requests.before) };
  const isKnown = isSpendKnown(spend?.value ?? 0, requests?.value ?? 0, failed?.value ?? 0);
  return (
    <ul className="grid grid-cols-2 border-t-2 border-rule lg:grid-cols-5">
      <Tile
        metric="requests"
        by="service"
        label={words.tiles.requests}
        value={requests && shortCount(requests.value)}
        delta={requests && <Delta range={range} change={requests.change} />}
      />
      <Tile
        metric="errors"
        by="endpoint"
        label={words.tiles.errors}
        value={shares && (shares.now === null ? words.none : formatShare(shares.now))}
        delta={
          shares && (
            <Delta
              range={range}
              change={shares.now === null || shares.before === null ? null : shares.now - shares.before}
              format={(change) => words.points(formatPoints(change))}
              stillBelow={0.0005}
              moreIsBad
            />
          )
        }
      />
      <Tile
        metric="cost_micros"
        by="model"
        label={words.tiles.spend}
        value={spend && (isKnown ? formatMoneyShort(spend.value) : words.none)}
        delta={spend && <Delta range={range} change={spend.change} />}
      />
      <Tile
        metric="total_tokens"
        by="model"
        label={words.tiles.tokens}
        value={tokens && shortCount(tokens.value)}
        delta={tokens && <Delta range={range} change={tokens.change} />}
      />
      <Tile
        metric="wait_ms_p95"
        by="lane"
        label={words.tiles.wait}
        value={p95 && (wait == null ? words.none : formatDuration(wait))}
        delta={
          p95 &&
          p95Before && (
            <Delta range={range} change={wait == null ? null : growth(wait, waitBefore)} moreIsBad />
          )
        }
      />
    </ul>
  );
}

function shareOf(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

function growth(now: number, before: number | null | undefined): number | null {
  return before == null || before === 0 ? null : now / before - 1;
}

function shortCount(value: number): string {
  return value < COMPACT_FROM ? formatCount(value) : formatCompact(value);
}

interface TileProps {
  readonly metric: UsageMetric;
  readonly by: NonNullable<UsageSearch['by']>;
  readonly label: string;
  readonly value: string | undefined;
  readonly delta: ReactNode;
}

function Tile({ metric, by, label, value, delta }: TileProps) {
  return (
    <li className="relative min-w-0 border-b py-2 pr-3 hover:bg-hover max-lg:last:col-span-2 lg:border-l lg:pl-3 lg:first:border-l-0 lg:first:pl-0">
      <Link
        to="/usage"
        search={{ metric, by }}
        title={words.openIn(label)}
        className="block truncate text-xs text-ink-soft after:absolute after:inset-0 after:content-['']"
      >
        {label}
      </Link>
      <p className="flex h-7 items-center truncate text-xl font-semibold tracking-[-0.01em] [font-stretch:94%]">
        {value ?? <Skeleton className="h-5 w-20" />}
      </p>
      <div className="flex min-h-5 items-center text-xs">{delta ?? <Skeleton className="w-28" />}</div>
    </li>
  );
}

interface DeltaProps {
  readonly range: TimeRange;
  readonly change: number | null;
  readonly format?: (change: number) => string;
  /** Smaller changes are shown as no change. */
  readonly stillBelow?: number;
  readonly moreIsBad?: boolean;
}

function Delta({ range, change, format = formatChange, stillBelow = 0.005, moreIsBad = false }: DeltaProps) {
  if (change === null) return <span className="text-ink-faint">{words.nothingBefore}</span>;
  const still = Math.abs(change) < stillBelow;
  const Icon = still ? Minus : change > 0 ? ArrowUpRight : ArrowDownRight;
  const tone = !moreIsBad || still ? 'text-ink-soft' : change > 0 ? 'text-bad' : 'text-good';
  return (
    <span className="flex min-w-0 items-center gap-1" title={words.delta(format(change), beforeOf(range))}>
      <Icon aria-hidden className={classes('size-3.5 shrink-0', tone)} />
      <span className={classes('shrink-0 font-medium tabular-nums', tone)}>{format(change)}</span>
      <span className="truncate text-ink-faint max-sm:sr-only">{beforeOf(range)}</span>
    </span>
  );
}

function beforeOf({ name }: TimeRange): string {
  return words.before[name ?? 'other'];
}
