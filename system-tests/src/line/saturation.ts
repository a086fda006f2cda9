import type { Sent } from '../harness/tagged-request.ts';
import {
  type Exceeded,
  exceededWindows,
  type GapsMs,
  gapsOf,
  type Line,
  reasonsOf,
  type Site,
} from './site.ts';

export interface SaturationSetup {
  /** Each asks again when it is served, so as many requests are in line at any time. */
  readonly clients: number;
  readonly forMs: number;
  readonly perSecond: number;
}

export interface Saturation {
  /** What the provider got, of what the limit allows over the time. */
  readonly share: number;
  readonly failed: number;
  readonly reasons: readonly string[];
  readonly exceeded: Exceeded;
  readonly gaps: GapsMs;
}

/** Keeps a line over the whole time, so that only the engine decides how much of the limit is used. */
export async function saturate(
  site: Site,
  { model, limit }: Line,
  { clients, forMs, perSecond }: SaturationSetup,
): Promise<Saturation> {
  const startMs = Date.now();
  let isOver = false;
  const failed: Sent[] = [];
  const running = new Set<Sent>();
  setTimeout(() => {
    isOver = true;
    for (const sent of running) sent.abort();
  }, forMs);
  async function client(index: number): Promise<void> {
    for (let turn = 0; !isOver; turn += 1) {
      const sent = site.ask({ model, tag: `${model}-${index}-${turn}` });
      running.add(sent);
      const { status } = await sent.answer;
      running.delete(sent);
      if (status !== 200 && !isOver) failed.push(sent);
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
  const log = await site.seen(`${model}-`);
  const [firstMs = startMs] = log.map(({ receivedAtMs }) => receivedAtMs);
  const calls = log.filter(({ receivedAtMs }) => receivedAtMs < firstMs + forMs).length;
  return {
    share: (calls * 1_000) / (perSecond * forMs),
    failed: failed.length,
    reasons: await reasonsOf(failed),
    exceeded: exceededWindows(limit, log),
    gaps: gapsOf(log),
  };
}
