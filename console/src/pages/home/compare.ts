interface Point {
  readonly at: string;
  readonly value: number | null;
}

/** A sum over a stretch of time, and how long that was. */
export interface Stretch {
  readonly sum: number;
  readonly lengthMs: number;
}

export interface Halves<P> {
  readonly now: readonly P[];
  readonly before: readonly P[];
}

/** Twice the range was read: the buckets of the range itself, and those before it. */
export function halvesOf<P extends Point>(points: readonly P[], from: string): Halves<P> {
  const startMs = bucketStartMs(points, from);
  const isNow = ({ at }: P) => Date.parse(at) >= startMs;
  return { now: points.filter(isNow), before: points.filter((point) => !isNow(point)) };
}

/** The range begins in the middle of a bucket, and the bucket belongs to it. */
function bucketStartMs(points: readonly Point[], from: string): number {
  const fromMs = Date.parse(from);
  const starts = points.map(({ at }) => Date.parse(at)).filter((atMs) => atMs <= fromMs);
  return starts.length === 0 ? fromMs : Math.max(...starts);
}

/**
 * The range has a bucket more than the time before, because it begins and ends in the middle of one. So it is compared
 * how much there was in the same time. Null where there was nothing before.
 */
export function changeBetween(now: Stretch, before: Stretch): number | null {
  if (before.sum === 0 || now.lengthMs <= 0 || before.lengthMs <= 0) return null;
  return now.sum / now.lengthMs / (before.sum / before.lengthMs) - 1;
}

export function sumOf(points: readonly Point[]): number {
  return points.reduce((sum, { value }) => sum + (value ?? 0), 0);
}

/** From the first of these buckets to a moment. */
export function lengthMsOf(points: readonly Point[], to: string): number {
  const [first] = points;
  return first === undefined ? 0 : Date.parse(to) - Date.parse(first.at);
}
