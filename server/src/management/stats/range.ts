import { invalidField } from '../refusals.ts';
import { timeOf } from '../requests/search.ts';

export type Bucket = 'minute' | 'hour' | 'day';

export const BUCKET_MS: Readonly<Record<Bucket, number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};
const POINTS_MAX = 2_000;

/** For how long sums are kept; days for ever. */
const KEPT_DAYS: Readonly<Record<Bucket, number>> = { minute: 8, hour: 100, day: Number.POSITIVE_INFINITY };
/** What is shown when no time is asked for. */
const DEFAULT_BUCKETS: Readonly<Record<Bucket, number>> = { minute: 60, hour: 24, day: 30 };

/** Whole buckets, the last one exclusive. */
export interface Range {
  readonly bucket: Bucket;
  readonly fromMs: number;
  readonly toMs: number;
}

interface Asked {
  readonly from?: string;
  readonly to?: string;
}

/** The buckets that hold the time asked for, or the latest ones. */
export function rangeOf(bucket: Bucket, asked: Asked, nowMs: number): Range {
  const sizeMs = BUCKET_MS[bucket];
  const up = (timeMs: number) => Math.ceil(timeMs / sizeMs) * sizeMs;
  const toMs = up(timeOf('to', asked.to) ?? nowMs + 1);
  const from = timeOf('from', asked.from) ?? toMs - DEFAULT_BUCKETS[bucket] * sizeMs;
  const fromMs = Math.floor(from / sizeMs) * sizeMs;
  if (fromMs >= toMs) throw invalidField('from', 'from must be earlier than to.');
  const points = (toMs - fromMs) / sizeMs;
  if (points > POINTS_MAX) {
    throw invalidField(
      'bucket',
      `bucket ${bucket} over this time would be ${points} points, and ${POINTS_MAX} is the most. Ask for a longer bucket or a shorter time.`,
    );
  }
  // One bucket of grace: what is asked for at the edge may be gone a moment later.
  if (fromMs < nowMs - KEPT_DAYS[bucket] * BUCKET_MS.day - sizeMs) {
    throw invalidField(
      'bucket',
      `bucket ${bucket} is kept for ${KEPT_DAYS[bucket]} days, and from is earlier. Ask for a longer bucket or a later time.`,
    );
  }
  return { bucket, fromMs, toMs };
}
