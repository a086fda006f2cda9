import type { Charge } from '../../domain/limits/limit.ts';
import { isSliding, type SlidingPeriod } from '../../domain/limits/period.ts';

/**
 * A sliding window as sums per bucket of time. Reservations may lie in the future, so a new one has to fit every interval
 * that contains it, not only the interval that ends with it.
 *
 * An interval of the period's length touches at most `periodMs / bucketMs + 1` buckets. One more bucket is counted, so that
 * a dispatch that reaches the provider up to a bucket late cannot push any real interval over the limit. The cost is
 * two buckets of capacity per period: 1.6 % of a minute, 9 % of a second.
 */
export interface SlidingWindow {
  /** Bucket number → reserved or used amount; empty buckets are absent. */
  readonly buckets: Map<number, number>;
  /** The earliest moment at which pacing releases the next request; 0 before the first. */
  paceNextMs: number;
}

export interface Geometry {
  readonly bucketMs: number;
  /** How many consecutive buckets may together hold no more than the limit. */
  readonly span: number;
}

export const GEOMETRY: Record<SlidingPeriod, Geometry> = {
  second: { bucketMs: 50, span: 22 },
  minute: { bucketMs: 500, span: 122 },
};

/** How late after its slot a request may be dispatched: one bucket of the shortest window that it is charged to. */
export function latenessMsMax(charges: readonly Charge[]): number {
  let boundMs = Number.POSITIVE_INFINITY;
  for (const { policy } of charges) {
    if (isSliding(policy.period)) boundMs = Math.min(boundMs, GEOMETRY[policy.period].bucketMs);
  }
  return boundMs;
}

export function emptySlidingWindow(): SlidingWindow {
  return { buckets: new Map(), paceNextMs: 0 };
}

/** The time between two paced requests. At this distance the window itself delays none of them. */
export function paceIntervalMs({ bucketMs, span }: Geometry, limit: number): number {
  return (bucketMs * span) / limit;
}

/** The first moment, not before `fromMs`, at which `cost` fits. The cost alone must fit the limit. */
export function earliestInSliding(
  { buckets }: SlidingWindow,
  { bucketMs, span }: Geometry,
  limit: number,
  cost: number,
  fromMs: number,
): number {
  const room = limit - cost;
  let bucket = Math.floor(fromMs / bucketMs);
  // Each turn moves past at least one non-empty bucket, so their number bounds the loop.
  for (;;) {
    let sum = 0;
    for (let index = bucket - span + 1; index <= bucket; index += 1) sum += buckets.get(index) ?? 0;
    let lastTooFull = sum > room ? bucket : -1;
    for (let end = bucket + 1; end < bucket + span; end += 1) {
      sum += (buckets.get(end) ?? 0) - (buckets.get(end - span) ?? 0);
      if (sum > room) lastTooFull = end;
    }
    if (lastTooFull < 0) return Math.max(fromMs, bucket * bucketMs);
    bucket = lastTooFull + 1;
  }
}

export function addToSliding(window: SlidingWindow, bucket: number, amount: number): void {
  const next = (window.buckets.get(bucket) ?? 0) + amount;
  if (next > 0) window.buckets.set(bucket, next);
  else window.buckets.delete(bucket);
}

/** Deletes buckets that no interval can reach any more. */
export function pruneSliding(window: SlidingWindow, { bucketMs, span }: Geometry, nowMs: number): void {
  const oldest = Math.floor(nowMs / bucketMs) - span;
  for (const bucket of window.buckets.keys()) if (bucket <= oldest) window.buckets.delete(bucket);
}

/** The usage of the last span, and what is reserved for later. */
export function sumOfSliding(
  { buckets }: SlidingWindow,
  { bucketMs, span }: Geometry,
  nowMs: number,
): { used: number; reserved: number } {
  const current = Math.floor(nowMs / bucketMs);
  let used = 0;
  let reserved = 0;
  for (const [bucket, amount] of buckets) {
    if (bucket > current) reserved += amount;
    else if (bucket > current - span) used += amount;
  }
  return { used, reserved };
}
