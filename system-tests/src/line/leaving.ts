import { afterMs } from '../harness/until.ts';
import { type Exceeded, exceededWindows, type Line, type Site } from './site.ts';

const LEAVERS = 7;
const LEAVE_AFTER_MS = 500;

export interface Leaving {
  readonly status: number;
  /** From the survivor's arrival to the provider. */
  readonly waitMs: number;
  readonly exceeded: Exceeded;
}

/** One request takes the capacity of now, seven wait and hang up, and one has come behind them. */
export async function leaveBeforeOne(site: Site, { model, limit }: Line): Promise<Leaving> {
  await site.ask({ model, tag: `${model}-first` }).answer;
  const leavers = Array.from({ length: LEAVERS }, (_, index) =>
    site.ask({ model, tag: `${model}-leaver-${index}` }),
  );
  // Long enough for the others to be received before it.
  await afterMs(20);
  const survivor = site.ask({ model, tag: `${model}-survivor` });
  await afterMs(LEAVE_AFTER_MS);
  for (const leaver of leavers) leaver.abort();
  const { status, sentAtMs } = await survivor.answer;
  const log = await site.seen(`${model}-`);
  const [reached] = await site.seen(`${model}-survivor`);
  return {
    status,
    waitMs: (reached?.receivedAtMs ?? Number.NaN) - sentAtMs,
    exceeded: exceededWindows(limit, log),
  };
}
