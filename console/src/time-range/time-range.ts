import type { Bucket } from '../format/times.ts';
import { keysOf } from '../format/values.ts';

/** The time range in the URL: relative to now, or a start and an end. */
export interface TimeRangeSearch {
  readonly range?: RangeName;
  readonly from?: string;
  readonly to?: string;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const LENGTHS_MS = {
  '15m': 15 * MINUTE_MS,
  '1h': HOUR_MS,
  '24h': DAY_MS,
  '7d': 7 * DAY_MS,
  '30d': 30 * DAY_MS,
  '90d': 90 * DAY_MS,
} as const;

/** Relative to now; `month` is the calendar month so far. */
export type RangeName = keyof typeof LENGTHS_MS | 'month';

const lengthNames = keysOf(LENGTHS_MS);
export const rangeNames: readonly RangeName[] = [...lengthNames, 'month'];
const DEFAULT_RANGE: keyof typeof LENGTHS_MS = '24h';

/** A resolved time range, with a bucket width that suits a chart. */
export interface TimeRange {
  /** Null for a start and an end. */
  readonly name: RangeName | null;
  readonly from: string;
  readonly to: string;
  readonly bucket: Bucket;
}

/** For `validateSearch` of every page that has a time range. */
export function timeRangeSearch(search: Record<string, unknown>): TimeRangeSearch {
  const from = momentOf(search['from']);
  const to = momentOf(search['to']);
  if (from !== null && to !== null && from < to) return { from, to };
  const range = search['range'];
  return isRangeName(range) && range !== DEFAULT_RANGE ? { range } : {};
}

interface SearchStep {
  readonly search: TimeRangeSearch;
  readonly next: (search: TimeRangeSearch) => TimeRangeSearch;
}

/** For every link: one that names no time range keeps that of the page it is on. */
export function keepTimeRange({ search, next }: SearchStep): TimeRangeSearch {
  const found = next(search);
  const isNamed = 'range' in found || 'from' in found || 'to' in found;
  return isNamed ? found : { ...found, ...timeRangeSearch({ ...search }) };
}

/** A relative range ends at a full minute, so that responses can be cached for a minute. */
export function rangeOf(search: TimeRangeSearch, nowMs: number): TimeRange {
  if (search.from !== undefined && search.to !== undefined) {
    const { from, to } = search;
    return { name: null, from, to, bucket: bucketFor(Date.parse(from), Date.parse(to), nowMs) };
  }
  const name = search.range ?? DEFAULT_RANGE;
  const toMs = Math.ceil(nowMs / MINUTE_MS) * MINUTE_MS;
  const fromMs = name === 'month' ? Date.parse(monthStart(0, nowMs)) : toMs - LENGTHS_MS[name];
  return {
    name,
    from: new Date(fromMs).toISOString(),
    // The first instant of a month has a minute too.
    to: new Date(Math.max(toMs, fromMs + MINUTE_MS)).toISOString(),
    bucket: bucketFor(fromMs, toMs, nowMs),
  };
}

/** The time range in the URL if it contains the moment; otherwise the shortest relative one that does, or the day around it. */
export function rangeAround(at: string, search: TimeRangeSearch, nowMs: number): TimeRangeSearch {
  const atMs = Date.parse(at);
  const contains = (each: TimeRangeSearch) => {
    const { from, to } = rangeOf(each, nowMs);
    return Date.parse(from) <= atMs && atMs < Date.parse(to);
  };
  const longer = lengthNames.slice(lengthNames.indexOf(DEFAULT_RANGE) + 1).map((range) => ({ range }));
  return (
    [search, { range: DEFAULT_RANGE }, ...longer].find(contains) ?? {
      from: new Date(atMs - DAY_MS / 2).toISOString(),
      to: new Date(atMs + DAY_MS / 2).toISOString(),
    }
  );
}

/** The calendar month before the present one, in UTC. */
export function previousMonth(nowMs: number): { readonly from: string; readonly to: string } {
  return { from: monthStart(1, nowMs), to: monthStart(0, nowMs) };
}

function monthStart(monthsAgo: number, nowMs: number): string {
  const now = new Date(nowMs);
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo)).toISOString();
}

/** The preceding range of equal length, for comparisons. */
export function rangeBefore({ from, to }: TimeRange): { readonly from: string; readonly to: string } {
  const lengthMs = Date.parse(to) - Date.parse(from);
  return { from: new Date(Date.parse(from) - lengthMs).toISOString(), to: from };
}

/** How long the server keeps statistics by minute and by hour. */
const KEPT_MS: Record<Bucket, number> = {
  minute: 8 * DAY_MS,
  hour: 100 * DAY_MS,
  day: Number.POSITIVE_INFINITY,
};
const BUCKET_MS: Record<Bucket, number> = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS };
const POINTS_MAX = 1_500;

/** The bucket widths for this range: still kept by the server, not too many, and at least one full bucket. */
export function bucketsFor({ from, to }: Pick<TimeRange, 'from' | 'to'>, nowMs: number): Bucket[] {
  const lengthMs = Date.parse(to) - Date.parse(from);
  const widths = keysOf(BUCKET_MS);
  const fit = widths.filter(
    (width) =>
      isKept(width, Date.parse(from), nowMs) &&
      lengthMs / BUCKET_MS[width] <= POINTS_MAX &&
      lengthMs >= BUCKET_MS[width],
  );
  return fit.length === 0 ? ['day'] : fit;
}

function bucketFor(fromMs: number, toMs: number, nowMs: number): Bucket {
  const lengthMs = toMs - fromMs;
  // The preceding range is read in the same width, so it counts too.
  if (lengthMs <= 6 * HOUR_MS && isKept('minute', fromMs - lengthMs, nowMs)) return 'minute';
  return lengthMs <= 8 * DAY_MS && isKept('hour', fromMs - lengthMs, nowMs) ? 'hour' : 'day';
}

function isKept(width: Bucket, fromMs: number, nowMs: number): boolean {
  return fromMs >= nowMs - KEPT_MS[width];
}

function isRangeName(value: unknown): value is RangeName {
  return rangeNames.some((name) => name === value);
}

function momentOf(value: unknown): string | null {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}
