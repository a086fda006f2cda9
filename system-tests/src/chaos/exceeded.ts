import type { RequestLogEntry } from '@relay/provider-sim';
import type { Sent } from './load.ts';
import { tagOf } from './provider-log.ts';
import { AT_ONCE_MAX, PER_MINUTE_MAX } from './world.ts';

/**
 * How much later than its admission a request can reach the provider: a gateway may be frozen in between. Arrivals within a minute
 * less this were admitted within one minute.
 */
const LATE_MS_MAX = 8_000;
const MINUTE_MS = 60_000;
/** How much later than Relay the provider can learn that a request has ended. */
const END_MS_MAX = 1_500;

/** Limits that were exceeded, by what the provider saw: requests of the last minute, and requests in flight. */
export function exceededLimits(entries: readonly RequestLogEntry[], sent: readonly Sent[]): string[] {
  const lanes = new Map(sent.map(({ tag, model }) => [tag, model]));
  const of = (lane: string) => entries.filter((entry) => lanes.get(tagOf(entry)) === lane);
  return [...exceededMinutes(of('minutely')), ...exceededConcurrency(of('limited'))];
}

function exceededMinutes(entries: readonly RequestLogEntry[]): string[] {
  const times = entries.map(({ receivedAtMs }) => receivedAtMs).sort((a, b) => a - b);
  const spanMs = MINUTE_MS - LATE_MS_MAX;
  return times.flatMap((first, index) => {
    const last = times[index + PER_MINUTE_MAX];
    if (last === undefined || last - first >= spanMs) return [];
    return [
      `${PER_MINUTE_MAX + 1} requests within ${last - first} ms, from ${new Date(first).toISOString()}`,
    ];
  });
}

function exceededConcurrency(entries: readonly RequestLogEntry[]): string[] {
  const changes = entries.flatMap((entry) => {
    const endMs = (entry.finishedAtMs ?? entry.abortedAtMs ?? entry.receivedAtMs) - END_MS_MAX;
    if (endMs <= entry.receivedAtMs) return [];
    return [
      { atMs: entry.receivedAtMs, by: 1 },
      { atMs: endMs, by: -1 },
    ];
  });
  changes.sort((a, b) => a.atMs - b.atMs || a.by - b.by);
  let inFlight = 0;
  return changes.flatMap(({ atMs, by }) => {
    inFlight += by;
    return by > 0 && inFlight > AT_ONCE_MAX
      ? [`${inFlight} in flight at ${new Date(atMs).toISOString()}`]
      : [];
  });
}
