import { redisCall } from '@relay/testbed';
import type { Sent } from '../harness/tagged-request.ts';
import { afterMs, until } from '../harness/until.ts';
import { type Line, reasonsOf, type Site } from './site.ts';

/** They come one portion after the other: what a crowd of arrivals costs is another question. */
const PORTION = 100;
const QUEUED_MS_MAX = 2_000;
const QUIET_MS = 10_000;
/** Longer than it takes to write the last place down. */
const SETTLE_MS = 2_000;

export interface IdleLine {
  readonly waiting: number;
  /** Answers to those who could not wait. */
  readonly reasons: readonly string[];
  /** Of one core, of Redis's main thread. */
  readonly share: number;
  readonly commandsPerSecond: number;
  readonly dispatched: number;
}

/** What a long line costs Redis while the pace releases hardly any request. */
export async function measureIdleLine(
  site: Site,
  { model, laneId }: Line,
  { waiters, gateways }: { readonly waiters: number; readonly gateways: number },
): Promise<IdleLine> {
  const sent: Sent[] = [];
  const isQueued = async () =>
    (await site.waiting(laneId)) + (await site.seen(`${model}-`)).length >= sent.length;
  while (sent.length < waiters) {
    for (let turn = 0; turn < PORTION; turn += 1)
      sent.push(site.ask({ model, tag: `${model}-${sent.length}`, gateway: sent.length % gateways }));
    await until(isQueued, QUEUED_MS_MAX, 50);
  }
  await afterMs(SETTLE_MS);
  const waiting = await site.waiting(laneId);
  const { port } = site.deployment.redis;
  const dispatchedBefore = (await site.seen(`${model}-`)).length;
  const before = await usageOf(port);
  await afterMs(QUIET_MS);
  const after = await usageOf(port);
  const dispatched = (await site.seen(`${model}-`)).length - dispatchedBefore;
  const early = sent.filter((each) => each.answered());
  for (const each of sent) each.abort();
  await Promise.all(sent.map(({ answer }) => answer));
  const reasons = await reasonsOf(early);
  await until(async () => (await site.waiting(laneId)) === 0, 20_000, 200);
  const seconds = QUIET_MS / 1_000;
  return {
    waiting,
    reasons,
    share: (after.cpuSeconds - before.cpuSeconds) / seconds,
    commandsPerSecond: (after.commands - before.commands) / seconds,
    dispatched,
  };
}

async function usageOf(port: number): Promise<{ cpuSeconds: number; commands: number }> {
  const text = `${await redisCall(port, 'INFO', 'cpu')}\n${await redisCall(port, 'INFO', 'stats')}`;
  const read = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(text)?.[1]);
  return {
    cpuSeconds: read('used_cpu_user_main_thread') + read('used_cpu_sys_main_thread'),
    commands: read('total_commands_processed'),
  };
}
