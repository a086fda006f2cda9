import { afterMs, until } from '../harness/until.ts';
import { type Exceeded, exceededWindows, type Line, reasonsOf, type Site } from './site.ts';

export interface FreezeSetup {
  readonly waiters: number;
  readonly freezeMs: number;
  readonly gateways: number;
}

export interface Freeze {
  readonly waiting: number;
  readonly failed: number;
  readonly reasons: readonly string[];
  readonly exceeded: Exceeded;
}

/** Redis stands still while everybody waits, for less than anybody's wait budget. */
export async function freezeUnderLine(
  site: Site,
  { model, laneId, limit }: Line,
  { waiters, freezeMs, gateways }: FreezeSetup,
): Promise<Freeze> {
  const sent = Array.from({ length: waiters }, (_, index) =>
    site.ask({ model, tag: `${model}-${index}`, gateway: index % gateways }),
  );
  const answered = () => sent.filter((each) => each.answered()).length;
  await until(async () => (await site.waiting(laneId)) + answered() >= waiters, 10_000);
  // Only these: a crowd that arrives in one moment on a busy machine can be more than Redis answers in time.
  const inLine = sent.filter((each) => !each.answered());
  site.deployment.redis.pause();
  await afterMs(freezeMs);
  site.deployment.redis.resume();
  const answers = await Promise.all(inLine.map(({ answer }) => answer));
  return {
    waiting: inLine.length,
    failed: answers.filter(({ status }) => status !== 200).length,
    reasons: await reasonsOf(inLine),
    exceeded: exceededWindows(limit, await site.seen(`${model}-`)),
  };
}
