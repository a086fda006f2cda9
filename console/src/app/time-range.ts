/** The one time range of the console, as it stands in the address: a length up to now, or two moments. */
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

export type RangeName = keyof typeof LENGTHS_MS;
export type Bucket = 'minute' | 'hour' | 'day';

export const rangeNames = Object.keys(LENGTHS_MS) as RangeName[];
const DEFAULT_RANGE: RangeName = '24h';

/** The moments that a range stands for, and the width of bucket that a chart of it can be read in. */
export interface TimeRange {
  /** Null where two moments were chosen. */
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

/** Lengths end with the minute that has begun, so that what is read can be kept for as long. */
export function rangeOf(search: TimeRangeSearch, nowMs: number): TimeRange {
  if (search.from !== undefined && search.to !== undefined) {
    const { from, to } = search;
    return { name: null, from, to, bucket: bucketFor(Date.parse(to) - Date.parse(from)) };
  }
  const name = search.range ?? DEFAULT_RANGE;
  const lengthMs = LENGTHS_MS[name];
  const toMs = Math.ceil(nowMs / MINUTE_MS) * MINUTE_MS;
  return {
    name,
    from: new Date(toMs - lengthMs).toISOString(),
    to: new Date(toMs).toISOString(),
    bucket: bucketFor(lengthMs),
  };
}

/** The range of the same length right before: what deltas are measured against. */
export function rangeBefore({ from, to }: TimeRange): { readonly from: string; readonly to: string } {
  const lengthMs = Date.parse(to) - Date.parse(from);
  return { from: new Date(Date.parse(from) - lengthMs).toISOString(), to: from };
}

function bucketFor(lengthMs: number): Bucket {
  if (lengthMs <= 6 * HOUR_MS) return 'minute';
  return lengthMs <= 8 * DAY_MS ? 'hour' : 'day';
}

function isRangeName(value: unknown): value is RangeName {
  return typeof value === 'string' && Object.hasOwn(LENGTHS_MS, value);
}

function momentOf(value: unknown): string | null {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}
