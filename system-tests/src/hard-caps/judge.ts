import type { RequestLogEntry } from '@relay/provider-sim';
import { tagOf } from '../chaos/provider-log.ts';
import { slidingExcess } from '../harness/provider-view.ts';
import { type Cap, OUTPUT_WORTH } from './caps.ts';

export interface Judged {
  readonly cap: string;
  readonly requests: number;
  /** Beyond the cap, in what it counts, in the day or minute with the most. */
  readonly over: number;
  /** Of the cap, in the same day or minute. */
  readonly usedShare: number;
}

/** How much later than its admission a request can reach the provider. Arrivals within a minute less this were admitted within one. */
const LATE_MS_MAX = 8_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** By what the provider counted for the requests that reached it, whatever became of them. */
export function judgeCap(cap: Cap, entries: readonly RequestLogEntry[]): Judged {
  const own = entries.filter((entry) => tagOf(entry).startsWith(`${cap.name}/`));
  const spanMs = MINUTE_MS - LATE_MS_MAX;
  const most =
    cap.period === 'day'
      ? mostOfDays(cap, own)
      : slidingExcess(own, spanMs, cap.limit, (entry) => amountOf(cap, entry)).most;
  return {
    cap: cap.name,
    requests: own.length,
    over: Math.max(0, most - cap.limit),
    usedShare: most / cap.limit,
  };
}

function mostOfDays(cap: Cap, entries: readonly RequestLogEntry[]): number {
  const days = Map.groupBy(entries, ({ receivedAtMs }) => Math.floor(receivedAtMs / DAY_MS));
  const sums = [...days.values()].map((each) => each.reduce((sum, entry) => sum + amountOf(cap, entry), 0));
  return Math.max(0, ...sums);
}

function amountOf({ metric }: Cap, { promptTokens, completionTokens }: RequestLogEntry): number {
  return promptTokens + completionTokens * (metric === 'spend' ? OUTPUT_WORTH : 1);
}
