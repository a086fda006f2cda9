interface Point {
  readonly at: string;
  readonly value: number | null;
}

/** A sum with its time span. */
export interface Stretch {
  readonly sum: number;
  readonly lengthMs: number;
}

export interface Halves<P> {
  readonly now: readonly P[];
  readonly before: readonly P[];
}

/** Splits the buckets of both ranges into present and preceding ones. */
export function halvesOf<P extends Point>(points: readonly P[], from: string): Halves<P> {
  const startMs = bucketStartMs(points, from);
  const isNow = ({ at }: P) => Date.parse(at) >= startMs;
  return { now: points.filter(isNow), before: points.filter((point) => !isNow(point)) };
}

/** The bucket in which the range starts belongs to the range. */
function bucketStartMs(points: readonly Point[], from: string): number {
  const fromMs = Date.parse(from);
  const starts = points.map(({ at }) => Date.parse(at)).filter((atMs) => atMs <= fromMs);
  return starts.length === 0 ? fromMs : Math.max(...starts);
}

/**
 * Compares rates, because the range has one bucket more than the preceding range. Null without earlier values.
 */
export function changeBetween(now: Stretch, before: Stretch): number | null {
  if (before.sum === 0 || now.lengthMs <= 0 || before.lengthMs <= 0) return null;
  return now.sum / now.lengthMs / (before.sum / before.lengthMs) - 1;
}

export function sumOf(points: readonly Point[]): number {
  return points.reduce((sum, { value }) => sum + (value ?? 0), 0);
}

/** The span from the first bucket to a time. */
export function lengthMsOf(points: readonly Point[], to: string): number {
  const [first] = points;
  return first === undefined ? 0 : Date.parse(to) - Date.parse(first.at);
}
