import { byArrival, mostInFlight, quantile, tagOf } from '../harness/provider-view.ts';
import { afterMs } from '../harness/until.ts';
import { answersOf, ask, askAll } from './ask.ts';
import type { Fleet } from './fleet.ts';

export interface AtOnceResult {
  readonly served: number;
  readonly strange: readonly string[];
  readonly mostInFlight: number;
  /** From the release of a slot to the next request at the provider, while requests were queued. */
  readonly idleMedianMs: number;
  readonly idleP99Ms: number;
  readonly left: { readonly used: number; readonly reserved: number } | null;
}

export interface AtOnceSetup {
  readonly model: string;
  readonly limit: number;
  readonly requests: number;
  readonly workMs: number;
  readonly policyId?: string;
}

/** Many concurrent requests where only a few may be in flight. */
export async function sendAtOnce(fleet: Fleet, setup: AtOnceSetup): Promise<AtOnceResult> {
  const { model, limit, requests, workMs } = setup;
  const options = Array.from({ length: requests }, (_, index) => ({
    model,
    tag: `${model}-${index}`,
    sim: { delayMs: workMs },
  }));
  const answers = await answersOf(askAll(fleet, options));
  const log = byArrival((await fleet.provider.log()).filter((entry) => tagOf(entry).startsWith(`${model}-`)));
  // With n slots, request n + 1 starts when the first one ends, and so on.
  const ends = log.map(({ finishedAtMs }) => finishedAtMs ?? 0).sort((a, b) => a - b);
  const idleMs = log.slice(limit).map(({ receivedAtMs }, index) => receivedAtMs - (ends[index] ?? 0));
  const strange = answers.filter(({ status }) => status !== 200);
  const usage = setup.policyId === undefined ? null : await fleet.usage(setup.policyId);
  return {
    served: answers.length - strange.length,
    strange: [...new Set(strange.map(({ status, text }) => `${status} ${text.slice(0, 200)}`))].slice(0, 5),
    mostInFlight: mostInFlight(log),
    idleMedianMs: quantile(idleMs, 0.5),
    idleP99Ms: quantile(idleMs, 0.99),
    left: usage === null ? null : { used: usage.used, reserved: usage.reserved },
  };
}

/**
 * Fills all slots, queues requests behind them and disconnects the head of the queue: the next request moves up as if
 * the others had never been there. Returns how long the survivor waited after a slot was free.
 */
export async function leaveTheLine(
  fleet: Fleet,
  { model, limit, workMs }: Pick<AtOnceSetup, 'model' | 'limit' | 'workMs'>,
): Promise<{ servedOfLine: number; survivorIdleMs: number; dispatchedLeavers: number }> {
  const tag = (kind: string, index: number) => `${model}-${kind}-${index}`;
  const holders = Array.from({ length: limit }, (_, index) =>
    ask(fleet, { model, tag: tag('holder', index), sim: { delayMs: workMs }, process: index % 4 }),
  );
  await until(fleet, (tags) => tags.filter((each) => each.startsWith(`${model}-holder`)).length === limit);
  const leavers = Array.from({ length: 20 }, (_, index) =>
    ask(fleet, { model, tag: tag('leaver', index), process: index % 4 }),
  );
  await afterMs(300);
  const survivor = ask(fleet, { model, tag: tag('survivor', 0), process: 1 });
  await afterMs(200);
  for (const leaver of leavers) leaver.abort();
  await answersOf([...leavers, ...holders]);
  const { status } = await survivor.answer;
  const log = (await fleet.provider.log()).filter((entry) => tagOf(entry).startsWith(`${model}-`));
  const freeMs = Math.min(
    ...log.filter((each) => tagOf(each).includes('holder')).map((each) => each.finishedAtMs ?? 0),
  );
  const reachedMs = log.find((each) => tagOf(each).includes('survivor'))?.receivedAtMs ?? Number.NaN;
  return {
    servedOfLine: status === 200 ? 1 : 0,
    survivorIdleMs: reachedMs - freeMs,
    dispatchedLeavers: log.filter((each) => tagOf(each).includes('leaver')).length,
  };
}

async function until(fleet: Fleet, holds: (tags: readonly string[]) => boolean): Promise<void> {
  for (let turn = 0; !holds((await fleet.provider.log()).map(tagOf)); turn += 1) {
    if (turn > 200) throw new Error('the provider has not seen what was expected');
    await afterMs(25);
  }
}
