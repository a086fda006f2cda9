export interface Backoff {
  readonly minMs: number;
  readonly maxMs: number;
}

/** The time before the next try: doubled by each failure, with jitter, so that a fleet does not try in one moment. */
export function backoffMs({ minMs, maxMs }: Backoff, failures: number, random: () => number): number {
  return Math.min(maxMs, minMs * 2 ** Math.min(failures, 10)) * (0.5 + random() / 2);
}
