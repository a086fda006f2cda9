import { gapsMs, quantile } from '../harness/provider-view.ts';
import { afterMs, until } from '../harness/until.ts';
import type { Line, Site } from './site.ts';

/** Away from the last dispatch, and further from the next one that the old pace would bring. */
const AFTER_DISPATCH_MS = 150;

export interface ChangedLimit {
  readonly failed: number;
  /** Those whom the change found waiting. */
  readonly freed: number;
  /** From the answer of the management API to the first and to the last of them at the provider. */
  readonly firstMs: number;
  readonly lastMs: number;
  readonly gapMsMedian: number;
}

export interface ChangeSetup {
  readonly requests: number;
  /** How many are sent before the change. */
  readonly sentBefore: number;
  readonly change: () => Promise<void>;
}

/** Changes the limit of those who wait for it, once the provider has got as many calls as were to go before. */
export async function changeUnderLine(
  site: Site,
  { model }: Line,
  { requests, sentBefore, change }: ChangeSetup,
): Promise<ChangedLimit> {
  const sent = Array.from({ length: requests }, (_, index) => site.ask({ model, tag: `${model}-${index}` }));
  const isThere = async () => (await site.seen(`${model}-`)).length >= sentBefore;
  if (!(await until(isThere, 20_000))) throw new Error('the provider has not got the first calls');
  await afterMs(AFTER_DISPATCH_MS);
  const askedAtMs = Date.now();
  await change();
  const changedAtMs = Date.now();
  const answers = await Promise.all(sent.map(({ answer }) => answer));
  const freed = (await site.seen(`${model}-`)).filter(({ receivedAtMs }) => receivedAtMs > askedAtMs);
  return {
    failed: answers.filter(({ status }) => status !== 200).length,
    freed: freed.length,
    firstMs: (freed[0]?.receivedAtMs ?? Number.NaN) - changedAtMs,
    lastMs: (freed.at(-1)?.receivedAtMs ?? Number.NaN) - changedAtMs,
    gapMsMedian: quantile(gapsMs(freed), 0.5),
  };
}
