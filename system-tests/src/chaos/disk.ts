import { redisCall } from '@relay/testbed';
import pg from 'pg';
import { afterMs, until } from '../harness/until.ts';
import type { Kill, Scene } from './kills.ts';
import { type Planned, planOf } from './plan.ts';
import { createRandom } from './random.ts';
import { runTrial, type SettleOptions, type SettleResult } from './settle.ts';

const FULL_MS = { min: 1_500, max: 4_000 };
const BACK_MS_MAX = 5_000;

/** The disks of Redis and PostgreSQL are full for a while, under load; then the ledger is compared with the provider's log. */
export async function disk(options: SettleOptions): Promise<SettleResult> {
  const form = options.short ? 'short' : 'whole';
  const planned = planOf(FULL_DISKS, form, createRandom(options.seed));
  const { kills, seen, figures, checks } = await runTrial(options, planned, 'steady', { smallDisks: true });
  const missed = Object.keys(FULL_DISKS).filter((name) => !seen.has(name));
  return {
    checks: [{ name: 'every disk was full', wrong: missed }, ...checks],
    figures: { faults: kills, ...figures, seed: options.seed },
  };
}

/** With `always`, Redis ends when it cannot write; with `everysec` it refuses writes until it can. */
const redisFull =
  (appendfsync: 'always' | 'everysec'): Kill =>
  async (scene) => {
    const { fleet } = scene;
    const { port, disk: itsDisk } = fleet.redis;
    await redisCall(port, 'CONFIG', 'SET', 'appendfsync', appendfsync);
    itsDisk?.fill();
    const isRefused = await until(() => fails(() => redisCall(port, 'SET', 'chaos:full', '1')), BACK_MS_MAX);
    await stayFull(scene);
    itsDisk?.free();
    const isBack = await until(
      async () => !(await fails(() => redisCall(port, 'SET', 'chaos:full', '1'))),
      BACK_MS_MAX,
    );
    if (!isBack) await fleet.killRedis(0);
    await redisCall(port, 'DEL', 'chaos:full');
    await redisCall(port, 'CONFIG', 'SET', 'appendfsync', 'always');
    return isRefused;
  };

const postgresFull: Kill = async (scene) => {
  const { postgres } = scene.fleet;
  postgres.disk?.fill();
  const isRefused = await until(() => fails(() => writeMuch(postgres.url)), BACK_MS_MAX);
  await stayFull(scene);
  postgres.disk?.free();
  const isBack = await until(async () => !(await fails(() => writeMuch(postgres.url))), BACK_MS_MAX);
  if (!isBack) await scene.fleet.killPostgres(0);
  return isRefused;
};

const FULL_DISKS: Readonly<Record<string, Planned>> = {
  redis_disk_full: { kill: redisFull('always'), whole: 5, short: 1 },
  redis_disk_full_everysec: { kill: redisFull('everysec'), whole: 5, short: 1 },
  postgres_disk_full: { kill: postgresFull, whole: 5, short: 1 },
};

function stayFull({ random }: Scene): Promise<void> {
  return afterMs(random.between(FULL_MS.min, FULL_MS.max));
}

async function fails(act: () => Promise<unknown>): Promise<boolean> {
  return act().then(
    () => false,
    () => true,
  );
}

/** More than fits into what its files have left over. */
async function writeMuch(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(
      'create temp table much as select repeat(md5(n::text), 60) as text from generate_series(1, 3000) n',
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}
