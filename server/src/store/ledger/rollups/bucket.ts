/** Rollups have three bucket sizes. This order is the order they are written in. */
export const BUCKETS = ['minute', 'hour', 'day'] as const;
export type Bucket = (typeof BUCKETS)[number];

export const BUCKET_MS: Readonly<Record<Bucket, number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};

/** How long rollups are kept. Day rollups stay forever: they are few, and usage statements are made from them. */
export const ROLLUP_DAYS: Readonly<Record<Bucket, number>> = {
  minute: 8,
  hour: 100,
  day: Number.POSITIVE_INFINITY,
};

/** A range of whole buckets; the end is exclusive. */
export interface BucketRange {
  readonly bucket: Bucket;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Whose requests of a range. */
export interface RangeQuestion {
  readonly organizationId: string;
  /** Only this user's; undefined for those of all. */
  readonly userId: string | undefined;
  readonly range: BucketRange;
}

/** When the bucket of this moment began. */
export function bucketStart(bucket: Bucket, timeMs: number): number {
  return timeMs - (timeMs % BUCKET_MS[bucket]);
}
