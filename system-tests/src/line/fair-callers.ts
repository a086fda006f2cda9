import { quantile } from '../harness/provider-view.ts';
import { until } from '../harness/until.ts';
import { type Exceeded, exceededWindows, type Line, reasonsOf, type Site } from './site.ts';

const MANY = 1_000;
const FEW = 10;

export interface Fairness {
  readonly aloneP50Ms: number;
  readonly besideP50Ms: number;
  readonly failed: number;
  readonly reasons: readonly string[];
  readonly exceeded: Exceeded;
}

/** Ten requests of one caller: by themselves on one line, and on another behind a thousand of another caller. */
export async function compareCallers(
  site: Site,
  lines: { readonly alone: Line; readonly shared: Line },
): Promise<Fairness> {
  const [many, few] = await site.twoKeys();
  // Sent just before, so that the first of the ten waits for the pace here too.
  await site.ask({ model: lines.alone.model, tag: `${lines.alone.model}-before`, token: few }).answer;
  const alone = await sendFew(site, lines.alone, few);
  const crowd = Array.from({ length: MANY }, (_, index) =>
    site.ask({ model: lines.shared.model, tag: `${lines.shared.model}-many-${index}`, token: many }),
  );
  const isQueued = async () => {
    const [waiting, log] = [await site.waiting(lines.shared.laneId), await site.seen(lines.shared.model)];
    return waiting + log.length >= MANY;
  };
  const queued = await until(isQueued, 20_000, 200);
  const beside = await sendFew(site, lines.shared, few);
  const turnedAway = await reasonsOf(crowd.filter((each) => each.answered()));
  for (const each of crowd) each.abort();
  await Promise.all(crowd.map(({ answer }) => answer));
  const exceeded = await Promise.all(
    Object.values(lines).map(async ({ limit, model }) => exceededWindows(limit, await site.seen(model))),
  );
  return {
    aloneP50Ms: quantile(alone.waitsMs, 0.5),
    besideP50Ms: quantile(beside.waitsMs, 0.5),
    failed: alone.failed + beside.failed + (queued ? 0 : 1),
    reasons: [...alone.reasons, ...beside.reasons, ...turnedAway],
    exceeded: (travelMs) => exceeded.reduce((sum, each) => sum + each(travelMs), 0),
  };
}

async function sendFew(
  site: Site,
  { model }: Line,
  token: string,
): Promise<{ waitsMs: number[]; failed: number; reasons: string[] }> {
  const sent = Array.from({ length: FEW }, (_, index) =>
    site.ask({ model, tag: `${model}-few-${index}`, token }),
  );
  const answers = await Promise.all(sent.map(({ answer }) => answer));
  const startMs = Math.min(...answers.map(({ sentAtMs }) => sentAtMs));
  const log = await site.seen(`${model}-few-`);
  return {
    waitsMs: log.map(({ receivedAtMs }) => receivedAtMs - startMs),
    failed: answers.filter(({ status }) => status !== 200).length,
    reasons: await reasonsOf(sent),
  };
}
