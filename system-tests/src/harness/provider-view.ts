import type { RequestLogEntry } from '@relay/provider-sim';

/** How many intervals of this length, each ending with a request, exceeded the limit; and the highest sum. */
export function slidingExcess(
  entries: readonly RequestLogEntry[],
  periodMs: number,
  limit: number,
  amountOf: (entry: RequestLogEntry) => number,
): { exceeded: number; most: number } {
  const sorted = byArrival(entries);
  let [from, sum, exceeded, most] = [0, 0, 0, 0];
  for (const entry of sorted) {
    sum += amountOf(entry);
    // An interval is open at one end: what came exactly a period ago is out.
    while ((sorted[from]?.receivedAtMs ?? 0) <= entry.receivedAtMs - periodMs) {
      sum -= amountOf(sorted[from] as RequestLogEntry);
      from += 1;
    }
    if (sum > limit) exceeded += 1;
    most = Math.max(most, sum);
  }
  return { exceeded, most };
}

export function tokensOf({ promptTokens, completionTokens }: RequestLogEntry): number {
  return promptTokens + completionTokens;
}

/** The highest number of concurrent requests. Within one millisecond, ends count before starts. */
export function mostInFlight(entries: readonly RequestLogEntry[]): number {
  const changes = entries.flatMap(({ receivedAtMs, finishedAtMs }) => [
    { atMs: receivedAtMs, by: 1 },
    { atMs: finishedAtMs ?? Number.POSITIVE_INFINITY, by: -1 },
  ]);
  changes.sort((a, b) => a.atMs - b.atMs || a.by - b.by);
  let [now, most] = [0, 0];
  for (const { by } of changes) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}

export function gapsMs(entries: readonly RequestLogEntry[]): number[] {
  const sorted = byArrival(entries);
  return sorted.slice(1).map((entry, index) => entry.receivedAtMs - (sorted[index]?.receivedAtMs ?? 0));
}

export function byArrival(entries: readonly RequestLogEntry[]): RequestLogEntry[] {
  return [...entries].sort((a, b) => a.receivedAtMs - b.receivedAtMs || a.id - b.id);
}

export function tagOf(entry: RequestLogEntry): string {
  return entry.fault?.tag ?? '';
}

/** The value below which the given part of them lies. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0;
}
