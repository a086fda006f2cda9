import { headers as names } from '@relay/contract';
import { afterMs } from '../harness/until.ts';
import { type Exceeded, exceededWindows, type GapsMs, gapsOf, type Line, type Site } from './site.ts';

const CLIENTS = 12;
const TIMEOUT_MS = 3_000;
export const FOR_MS = 15_000;
/** Two a second over the time, less the one in flight at its end. */
export const POSSIBLE_CALLS = 29;
const PAUSE_MS_MAX = 1_000;

export interface Impatience {
  readonly calls: number;
  readonly timeouts: number;
  readonly exceeded: Exceeded;
  readonly gaps: GapsMs;
}

/** Clients that hang up after some seconds and try again. `gateways` names those that can be asked now. */
export async function sendImpatiently(
  site: Site,
  { model, limit }: Line,
  gateways: () => readonly number[],
): Promise<Impatience> {
  const startMs = Date.now();
  let timeouts = 0;
  async function client(index: number): Promise<void> {
    for (let turn = 0; Date.now() < startMs + FOR_MS; turn += 1) {
      const open = gateways();
      const gateway = open[index % open.length] ?? 0;
      const sent = site.ask({ model, tag: `${model}-${index}-${turn}`, gateway });
      const timer = setTimeout(() => {
        timeouts += 1;
        sent.abort();
      }, TIMEOUT_MS);
      const { status, headers } = await sent.answer;
      clearTimeout(timer);
      const retryAfterMs = Number(headers[names.retryAfterMs.toLowerCase()] ?? 0);
      if (status !== 200) await afterMs(Math.min(retryAfterMs, PAUSE_MS_MAX));
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index)));
  const log = await site.seen(`${model}-`);
  const calls = log.filter(({ receivedAtMs }) => receivedAtMs < startMs + FOR_MS).length;
  return { calls, timeouts, exceeded: exceededWindows(limit, log), gaps: gapsOf(log) };
}
