import { byArrival, tagOf } from '../harness/provider-view.ts';
import { afterMs } from '../harness/until.ts';
import { answersOf, ask, errorOf, header } from './ask.ts';
import type { Fleet } from './fleet.ts';

/** Polls every process until it enforces the new limit. */
export async function untilEverywhere(
  fleet: Fleet,
  model: string,
  holds: (status: number) => boolean,
): Promise<number> {
  const startMs = performance.now();
  for (let turn = 0; ; turn += 1) {
    const answers = await answersOf(
      Array.from({ length: fleet.size }, (_, process) =>
        ask(fleet, { model, tag: `${model}-change-${turn}-${process}`, process, maxTokens: 50 }),
      ),
    );
    if (answers.every(({ status }) => holds(status))) return Math.round(performance.now() - startMs);
    if (performance.now() - startMs > 10_000) throw new Error('a change does not reach every process');
    await afterMs(50);
  }
}

export interface RedecidedResult {
  readonly statuses: readonly number[];
  /** From the first to the last queued request, at the provider. */
  readonly spreadMs: number;
  /** From the change to the first queued request. */
  readonly firstMs: number;
  readonly inOrder: boolean;
  /** When each request reached the provider. */
  readonly atMs: readonly number[];
}

/** Queues paced requests on every process, then changes the limit. Returns how they were dispatched. */
export async function changeUnderWaiters(
  fleet: Fleet,
  model: string,
  waiters: number,
  change: () => Promise<void>,
): Promise<RedecidedResult> {
  const asked = [];
  for (let index = 0; index < waiters; index += 1) {
    asked.push(ask(fleet, { model, tag: `${model}-${String(index).padStart(2, '0')}`, process: index % 4 }));
    // Spaced out, so that their order is known across processes.
    await afterMs(60);
  }
  await change();
  const changedAtMs = Date.now();
  const answers = await answersOf(asked);
  const log = byArrival((await fleet.provider.log()).filter((entry) => tagOf(entry).startsWith(`${model}-`)));
  const after = log.filter(({ receivedAtMs }) => receivedAtMs > changedAtMs);
  const tags = log.map(tagOf);
  return {
    statuses: answers.map(({ status }) => status),
    spreadMs: (after.at(-1)?.receivedAtMs ?? 0) - (after[0]?.receivedAtMs ?? 0),
    firstMs: (after[0]?.receivedAtMs ?? 0) - changedAtMs,
    inOrder: tags.every((tag, index) => index === 0 || (tags[index - 1] ?? '') < tag),
    atMs: log.map(({ receivedAtMs }) => receivedAtMs),
  };
}

export interface RateHeaders {
  readonly limitRequests: string | undefined;
  readonly remainingRequests: string | undefined;
  readonly resetRequests: string | undefined;
  readonly limitTokens: string | undefined;
  readonly remainingTokens: string | undefined;
}

/** The provider sends rate-limit headers too, which must not be mistaken for Relay's. */
export async function rateHeaders(fleet: Fleet, model: string, tag: string): Promise<RateHeaders> {
  const answer = await ask(fleet, { model, tag, sim: { rateLimitHeaders: true } }).answer;
  if (answer.status !== 200) throw new Error(`${answer.status} ${errorOf(answer).code}`);
  return {
    limitRequests: header(answer, 'rateLimitLimitRequests'),
    remainingRequests: header(answer, 'rateLimitRemainingRequests'),
    resetRequests: header(answer, 'rateLimitResetRequests'),
    limitTokens: header(answer, 'rateLimitLimitTokens'),
    remainingTokens: header(answer, 'rateLimitRemainingTokens'),
  };
}
