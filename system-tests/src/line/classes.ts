import type { RequestLogEntry } from '@relay/provider-sim';
import { quantile, tagOf } from '../harness/provider-view.ts';
import type { Sent, TaggedAnswer } from '../harness/tagged-request.ts';
import { afterMs, until } from '../harness/until.ts';
import { type Exceeded, exceededWindows, type Line, reasonsOf, type Site } from './site.ts';

/** As many successive dispatches as a minute of 60 has: the lower class gets a tenth of them, less one. */
const SPAN = 60;

export interface ClassesSetup {
  readonly interactive: string;
  readonly batch: Line;
  readonly batchWaiting: number;
  readonly gateways: number;
  /** Interactive requests below the limit, then more than it allows. */
  readonly below: Traffic;
  readonly above: Traffic;
}

export interface Traffic {
  readonly perSecond: number;
  readonly forMs: number;
}

export interface Classes {
  readonly batchAccepted: number;
  /** Answers to batch requests before their time. */
  readonly reasons: readonly string[];
  readonly interactiveServed: number;
  readonly interactiveFailed: number;
  readonly waitP99Ms: number;
  /** What the same requests would have waited behind all that came before them. */
  readonly firstComeP99Ms: number;
  /** The smallest part that batch got of successive dispatches, while interactive alone could have used them all. */
  readonly batchShare: number;
  readonly exceeded: Exceeded;
}

/** Interactive requests come to an endpoint for which a crowd of batch requests waits. */
export async function mixClasses(site: Site, setup: ClassesSetup): Promise<Classes> {
  const { batch, batchWaiting, gateways } = setup;
  const crowd = Array.from({ length: batchWaiting }, (_, index) =>
    site.ask({ model: batch.model, tag: `${batch.model}-${index}`, gateway: index % gateways }),
  );
  const isQueued = async () =>
    (await site.waiting(batch.laneId)) + (await site.seen(batch.model)).length >= batchWaiting;
  await until(isQueued, 5_000);
  const early = await Promise.all(crowd.filter((each) => each.answered()).map(({ answer }) => answer));
  const batchAccepted = batchWaiting - early.filter(({ status }) => status !== 200).length;
  const below = await sendInteractive(site, setup, 'below', setup.below);
  const answers = await Promise.all(below.map(({ answer }) => answer));
  const reasons = await reasonsOf([...crowd.filter((each) => each.answered()), ...below]);
  const aboveStartMs = Date.now();
  const above = await sendInteractive(site, setup, 'above', setup.above);
  const endMs = Date.now();
  for (const each of [...above, ...crowd]) each.abort();
  const crowdAnswers = await Promise.all(crowd.map(({ answer }) => answer));

  const log = [...(await site.seen(setup.interactive)), ...(await site.seen(batch.model))].sort(
    (a, b) => a.receivedAtMs - b.receivedAtMs,
  );
  const waits = waitsOf(answers, log);
  return {
    batchAccepted,
    reasons,
    interactiveServed: waits.length,
    interactiveFailed: answers.length - waits.length,
    waitP99Ms: quantile(waits, 0.99),
    firstComeP99Ms: quantile(firstComeWaits(answers, crowdAnswers, log), 0.99),
    batchShare: leastShare(
      log.filter(({ receivedAtMs }) => receivedAtMs >= aboveStartMs && receivedAtMs < endMs),
      batch.model,
    ),
    exceeded: exceededWindows(batch.limit, log),
  };
}

/** Requests at random moments, as many people make them. */
async function sendInteractive(
  site: Site,
  { interactive, gateways }: ClassesSetup,
  phase: string,
  { perSecond, forMs }: Traffic,
): Promise<Sent[]> {
  const sent: Sent[] = [];
  const endMs = Date.now() + forMs;
  for (let atMs = Date.now(); atMs < endMs; atMs += (-Math.log(1 - Math.random()) * 1_000) / perSecond) {
    await afterMs(Math.max(0, atMs - Date.now()));
    const tag = `${interactive}-${phase}-${sent.length}`;
    sent.push(site.ask({ model: interactive, tag, gateway: sent.length % gateways }));
  }
  return sent;
}

function waitsOf(answers: readonly TaggedAnswer[], log: readonly RequestLogEntry[]): number[] {
  const reachedAtMs = new Map(log.map((entry) => [tagOf(entry), entry.receivedAtMs]));
  return answers
    .filter(({ status }) => status === 200)
    .map(({ tag, sentAtMs }) => (reachedAtMs.get(tag) ?? Number.POSITIVE_INFINITY) - sentAtMs);
}

/** First come, first served: the requests that were waiting on arrival, at the pace that the provider saw. */
function firstComeWaits(
  answers: readonly TaggedAnswer[],
  crowd: readonly TaggedAnswer[],
  log: readonly RequestLogEntry[],
): number[] {
  const atMs = log.map(({ receivedAtMs }) => receivedAtMs);
  const perMs = (atMs.length - 1) / ((atMs.at(-1) ?? 0) - (atMs[0] ?? 0));
  const arrivals = [...answers, ...crowd].map(({ sentAtMs }) => sentAtMs);
  return answers.map(({ sentAtMs }) => {
    const arrived = arrivals.filter((each) => each < sentAtMs).length;
    const gone = atMs.filter((each) => each < sentAtMs).length;
    return (arrived - gone) / perMs;
  });
}

/** Of any span of successive dispatches; one request more is allowed for. */
function leastShare(log: readonly RequestLogEntry[], batchModel: string): number {
  const isBatch = log.map((entry) => tagOf(entry).startsWith(batchModel));
  let least = 1;
  for (let from = 0; from + SPAN <= isBatch.length; from += 1) {
    const batch = isBatch.slice(from, from + SPAN).filter(Boolean).length;
    least = Math.min(least, (batch + 1) / SPAN);
  }
  return isBatch.length < SPAN ? 0 : least;
}
