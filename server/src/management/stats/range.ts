import { countWords } from '@relay/contract/words';
import { BUCKET_MS, type Bucket, type BucketRange, ROLLUP_DAYS } from '../../store/ledger/rollups/bucket.ts';
import { invalidField } from '../resources/refusals.ts';
import { timeOf } from '../resources/time-param.ts';

const POINTS_MAX = 2_000;
/** Where every row has a point for each bucket. */
const POINTS_PER_ROW_MAX = 200;

/** The number of buckets when the query has no time range. */
const DEFAULT_BUCKETS: Readonly<Record<Bucket, number>> = { minute: 60, hour: 24, day: 30 };

interface Asked {
  readonly from?: string;
  readonly to?: string;
}

/** The buckets that cover the requested time, or the latest ones. */
export function rangeOf(bucket: Bucket, asked: Asked, nowMs: number): BucketRange {
  const sizeMs = BUCKET_MS[bucket];
  const up = (timeMs: number) => Math.ceil(timeMs / sizeMs) * sizeMs;
  const toMs = up(timeOf('to', asked.to) ?? nowMs + 1);
  const from = timeOf('from', asked.from) ?? toMs - DEFAULT_BUCKETS[bucket] * sizeMs;
  const fromMs = Math.floor(from / sizeMs) * sizeMs;
  if (fromMs >= toMs) throw invalidField('from', '"from" must be earlier than "to".');
  const points = (toMs - fromMs) / sizeMs;
  if (points > POINTS_MAX) {
    throw invalidField(
      'bucket',
      `bucket ${bucket} over this time range would return ${countWords(points)} points; the maximum is ${countWords(POINTS_MAX)}. Use a longer bucket or a shorter time range.`,
    );
  }
  // Allows one bucket beyond the retention, because the clock moves on after the client chose the range.
  if (fromMs < nowMs - ROLLUP_DAYS[bucket] * BUCKET_MS.day - sizeMs) {
    throw invalidField(
      'bucket',
      `Relay keeps ${bucket} buckets for ${ROLLUP_DAYS[bucket]} days, and "from" is earlier. Use a longer bucket or a later "from".`,
    );
  }
  return { bucket, fromMs, toMs };
}

/** The same where each row, such as an endpoint, has its own points. */
export function rangeOfRows(
  { bucket = 'hour', ...asked }: Asked & { readonly bucket?: Bucket },
  row: string,
  nowMs: number,
): BucketRange {
  const range = rangeOf(bucket, asked, nowMs);
  const points = (range.toMs - range.fromMs) / BUCKET_MS[bucket];
  if (points > POINTS_PER_ROW_MAX)
    throw invalidField(
      'bucket',
      `bucket ${bucket} over this time range would return ${countWords(points)} points per ${row}; the maximum is ${POINTS_PER_ROW_MAX}. Use a longer bucket or a shorter time range.`,
    );
  return range;
}

/** A number for each bucket of the range, oldest first. */
export function pointsOf(
  { bucket, fromMs, toMs }: BucketRange,
  series: ReadonlyMap<number, number>,
): number[] {
  const points: number[] = [];
  for (let atMs = fromMs; atMs < toMs; atMs += BUCKET_MS[bucket]) points.push(series.get(atMs) ?? 0);
  return points;
}
