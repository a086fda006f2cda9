import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createClient } from '@redis/client';
import { positive, say } from './command-line.ts';
import { startDeployment } from './ledger/deployment.ts';
import { rounded } from './statistics.ts';

export const IDLE_USAGE = `idle: Redis commands that one idle gateway and one idle worker send
  --seconds N      how long each is measured (20)
  --shards N       shards used in the last 2 minutes, for the second result (100)`;

/** The patrol of a starting worker looks at every shard once. */
const START_MS = 5_000;

type Send = (command: string[]) => Promise<unknown>;

/** Counts commands and Redis's CPU, first without any shard in use, then with some. */
export async function idle(args: readonly string[]): Promise<unknown> {
  const { values } = parseArgs({
    args: [...args],
    options: { seconds: { type: 'string' }, shards: { type: 'string' } },
  });
  const seconds = positive('--seconds', values.seconds ?? '20');
  const shards = positive('--shards', values.shards ?? '100');
  const deployment = await startDeployment();
  try {
    const worker = await deployment.startWorker();
    const redis = createClient({ url: deployment.redisUrl, disableClientInfo: true });
    await redis.connect();
    const send: Send = (command) => redis.sendCommand(command);
    try {
      await sleep(START_MS);
      const none = await measure(send, seconds);
      say('nothing is in use');
      const nowS = String(Math.floor(Date.now() / 1_000));
      for (let shard = 0; shard < shards; shard += 1)
        await send(['ZADD', 'relay:shards', nowS, `relay:{s${shard}}:`]);
      await sleep(START_MS);
      const some = await measure(send, seconds);
      return {
        commands_per_s: none.commandsPerS,
        redis_core_share: none.coreShare,
        shards_in_use: shards,
        commands_per_s_in_use: some.commandsPerS,
        redis_core_share_in_use: some.coreShare,
      };
    } finally {
      redis.destroy();
      await worker.stop();
    }
  } finally {
    await deployment.stop();
  }
}

async function measure(send: Send, seconds: number) {
  const [before, startMs] = [await readCounters(send), performance.now()];
  await sleep(seconds * 1_000);
  const after = await readCounters(send);
  const elapsedS = (performance.now() - startMs) / 1_000;
  return {
    // Without the two commands that read the counters.
    commandsPerS: rounded((after.commands - before.commands - 2) / elapsedS, 1),
    coreShare: rounded((after.cpuS - before.cpuS) / elapsedS, 4),
  };
}

async function readCounters(send: Send): Promise<{ commands: number; cpuS: number }> {
  const stats = String(await send(['INFO', 'stats']));
  const cpu = String(await send(['INFO', 'cpu']));
  const read = (text: string, name: string) => Number(new RegExp(`^${name}:(.*)$`, 'm').exec(text)?.[1]);
  return {
    commands: read(stats, 'total_commands_processed'),
    cpuS: read(cpu, 'used_cpu_user_main_thread') + read(cpu, 'used_cpu_sys_main_thread'),
  };
}
