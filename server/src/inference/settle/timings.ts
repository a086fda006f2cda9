import type { RequestTimings } from '../../domain/request-record.ts';
import type { Exchange } from '../exchange.ts';

/** Whole milliseconds of each step; null for a step that the exchange did not reach. */
export function timingsOf(
  { startMs, marks, waitMs, guard }: Exchange,
  firstContentMs: number | null,
  endMs: number,
): RequestTimings & { readonly totalMs: number } {
  const { receivedMs, routedMs, admitMs, upstreamFirstByteMs } = marks;
  return {
    receiveMs: between(startMs, receivedMs),
    routeMs: between(receivedMs, routedMs),
    guardMs: between(0, guard.tookMs),
    admitMs: between(0, admitMs),
    waitMs: admitMs === null ? null : Math.round(waitMs),
    upstreamFirstByteMs: between(0, upstreamFirstByteMs),
    firstContentMs: between(startMs, firstContentMs),
    totalMs: Math.round(endMs - startMs),
  };
}

function between(fromMs: number | null, toMs: number | null): number | null {
  return fromMs === null || toMs === null ? null : Math.round(toMs - fromMs);
}
