import { forecastOf, isEarly, type UsedWindow } from './forecast.ts';

/** Those of these shares, in percent, that are reached. Without use none is, whatever the limit. */
export function reachedThresholds(
  thresholds: readonly number[],
  { used, limit }: { readonly used: number; readonly limit: number },
): number[] {
  // Equal shares are equal as floating-point quotients too; a product with 100 could pass 2^53.
  return used <= 0 ? [] : thresholds.filter((percent) => used / limit >= percent / 100);
}

/**
 * When the limit is reached at the pace of the window so far. Null when that is not before the window's end, when it is reached already,
 * and while less than a tenth of the window has passed. A limit that is reached early has so been used by more than a tenth.
 */
export function exhaustedAtMs(window: UsedWindow & { readonly limit: number }, nowMs: number): number | null {
  if (isEarly(window, nowMs) || window.used >= window.limit) return null;
  return forecastOf(window, nowMs).exhaustedMs;
}
