/** A calendar window of a limit, with what was used of it. */
export interface UsedWindow {
  readonly startMs: number;
  /** Exclusive. */
  readonly endMs: number;
  readonly used: number;
  readonly limit: number;
}

/** A pace over less of the window says little: one busy minute after midnight does not predict the day. */
const SEEN_SHARE_MIN = 0.1;

/** Those of these shares, in percent, that are reached. Without use none is, whatever the limit. */
export function reachedThresholds(
  thresholds: readonly number[],
  { used, limit }: Pick<UsedWindow, 'used' | 'limit'>,
): number[] {
  // Equal shares are equal as floating-point quotients too; a product with 100 could pass 2^53.
  return used <= 0 ? [] : thresholds.filter((percent) => used / limit >= percent / 100);
}

/**
 * When the limit is reached at the pace of the window so far. Null when that is not before the window's end, when it is reached already,
 * and while less than a tenth of the window has passed. A limit that is reached early has so been used by more than a tenth.
 */
export function exhaustedAtMs({ startMs, endMs, used, limit }: UsedWindow, nowMs: number): number | null {
  const passedMs = nowMs - startMs;
  if (nowMs >= endMs || passedMs < SEEN_SHARE_MIN * (endMs - startMs)) return null;
  if (used <= 0 || used >= limit) return null;
  const atMs = Math.ceil(startMs + passedMs * (limit / used));
  return atMs < endMs ? atMs : null;
}
