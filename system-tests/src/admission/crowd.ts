import type { RequestLogEntry } from '@relay/provider-sim';
import { byArrival, gapsMs, quantile, slidingExcess, tagOf, tokensOf } from '../harness/provider-view.ts';
import { type Answer, answersOf, arrivedAtMs, ask, askAll, errorOf, header } from './ask.ts';
import type { Fleet } from './fleet.ts';

export interface CrowdSize {
  readonly requests: number;
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
  readonly waitMsMax: number;
  /** The time to receive and forward a request, which is not a wait for capacity. */
  readonly travelMs: number;
}

export interface CrowdResult {
  readonly accepted: number;
  readonly refused: number;
  /** Neither served nor rejected by a limit. */
  readonly strange: readonly string[];
  readonly exceeded: number;
  readonly mostRequests: number;
  readonly mostTokens: number;
  /** Accepted, but dispatched after the wait budget had expired. */
  readonly late: number;
  readonly outOfOrder: number;
  readonly unnamedRefusals: number;
  readonly latenessP99Ms: number;
  readonly latenessMaxMs: number;
  /** The limit's own interval, or the slowest that serves all of them in time. */
  readonly paceIntervalMs: number;
  readonly gapMsMin: number;
  readonly gapMsMedian: number;
}

const MINUTE_MS = 60_000;
/** Of the checked run: 122 buckets of half a second. */
const RUN_MS = 61_000;
/** Requests received within this time may have been read in either order. */
const SAME_MOMENT_MS = 25;
/** Paced slots are an interval apart; requests much closer than that shared a slot and may overtake each other. */
const SAME_SLOT_PART = 0.6;
const SAME_SLOT_MS_MAX = 500;
/** About 100 tokens with the input, so that both limits are reached after the same number of requests. */
const OUTPUT_TOKENS = [60, 90, 130];

/** Many concurrent requests against a request limit and a token limit, judged by the provider's log. */
export async function sendCrowd(fleet: Fleet, model: string, size: CrowdSize): Promise<CrowdResult> {
  // The first request of a limit waits until its windows are counted, and others may pass it then.
  await ask(fleet, { model, tag: `${model}-first`, maxTokens: 1, sim: { outputTokens: 1 } }).answer;
  const asked = askAll(
    fleet,
    Array.from({ length: size.requests }, (_, index) => {
      const maxTokens = OUTPUT_TOKENS[index % OUTPUT_TOKENS.length] ?? 1;
      // The provider uses all of max tokens, so that its count equals the reservation.
      return { model, tag: `${model}-${index}`, maxTokens, sim: { outputTokens: maxTokens } };
    }),
  );
  const answers = await answersOf(asked);
  const accepted = answers.filter(({ status }) => status === 200);
  const refused = answers.filter((answer) => isRefusal(answer));
  const strange = answers.filter((answer) => !accepted.includes(answer) && !refused.includes(answer));
  const log = (await fleet.provider.log()).filter((entry) => tagOf(entry).startsWith(`${model}-`));
  const requests = slidingExcess(log, MINUTE_MS, size.requestsPerMinute, () => 1);
  const tokens = slidingExcess(log, MINUTE_MS, size.tokensPerMinute, tokensOf);
  const lateness = latenessMs(accepted, log);
  const gaps = pacedGaps(accepted, log, size);
  return {
    accepted: accepted.length,
    refused: refused.length,
    strange: [...new Set(strange.map(({ status, text }) => `${status} ${text.slice(0, 200)}`))].slice(0, 5),
    exceeded: requests.exceeded + tokens.exceeded,
    mostRequests: requests.most,
    mostTokens: tokens.most,
    late: lateRequests(accepted, log, size.waitMsMax + size.travelMs),
    outOfOrder: outOfOrder(accepted, log, size),
    unnamedRefusals: refused.filter((answer) => (errorOf(answer).policy ?? null) === null).length,
    latenessP99Ms: quantile(lateness, 0.99),
    latenessMaxMs: quantile(lateness, 1),
    paceIntervalMs: Math.round(Math.min(RUN_MS / size.requestsPerMinute, size.waitMsMax / accepted.length)),
    gapMsMin: quantile(gaps, 0),
    gapMsMedian: quantile(gaps, 0.5),
  };
}

function isRefusal(answer: Answer): boolean {
  if (answer.status !== 429 || !(Number(header(answer, 'retryAfterMs')) > 0)) return false;
  const { code, retry_after } = errorOf(answer);
  return code === 'rate_limit_wait_budget_exceeded' && String(retry_after) === header(answer, 'retryAfter');
}

function arrivals(log: readonly RequestLogEntry[]): Map<string, number> {
  return new Map(log.map((entry) => [tagOf(entry), entry.receivedAtMs]));
}

/** From the end of the wait, as the gateway reports it, to the provider. */
function latenessMs(accepted: readonly Answer[], log: readonly RequestLogEntry[]): number[] {
  const reached = arrivals(log);
  return accepted.map((answer) => {
    const dueMs = arrivedAtMs(answer) + Number(header(answer, 'waitMs'));
    return (reached.get(answer.tag) ?? Number.NaN) - dueMs;
  });
}

function lateRequests(accepted: readonly Answer[], log: readonly RequestLogEntry[], boundMs: number): number {
  const reached = arrivals(log);
  return accepted.filter((answer) => {
    const waitedMs = (reached.get(answer.tag) ?? Number.POSITIVE_INFINITY) - arrivedAtMs(answer);
    return waitedMs > boundMs;
  }).length;
}

/** Requests that overtook an earlier request of the same process. */
function outOfOrder(accepted: readonly Answer[], log: readonly RequestLogEntry[], size: CrowdSize): number {
  const sameSlotMs = Math.min(SAME_SLOT_MS_MAX, (SAME_SLOT_PART * RUN_MS) / size.requestsPerMinute);
  const reached = arrivals(log);
  let count = 0;
  for (const process of new Set(accepted.map((answer) => answer.process))) {
    const own = accepted.filter((answer) => answer.process === process);
    for (const later of own) {
      const earlier = own.some(
        (other) =>
          arrivedAtMs(other) + SAME_MOMENT_MS < arrivedAtMs(later) &&
          (reached.get(other.tag) ?? 0) > (reached.get(later.tag) ?? 0) + sameSlotMs,
      );
      if (earlier) count += 1;
    }
  }
  return count;
}

/** Gaps between paced dispatches. Requests that pacing would make miss their deadline are left out. */
function pacedGaps(accepted: readonly Answer[], log: readonly RequestLogEntry[], size: CrowdSize): number[] {
  const intervalMs = RUN_MS / size.requestsPerMinute;
  const waits = new Map(accepted.map((answer) => [answer.tag, Number(header(answer, 'waitMs'))]));
  const spread = byArrival(log).filter(
    (entry) => (waits.get(tagOf(entry)) ?? 0) < size.waitMsMax - 2 * intervalMs,
  );
  return gapsMs(spread);
}
