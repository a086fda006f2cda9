import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { type PrivateRedis, startRedis } from '@relay/testbed';
import { IS_LONG } from '@relay/testbed/long-form';
import { createRandom, testSeed } from '@relay/testbed/random';
import { NOBODY } from '../admission/ask.fixture.ts';
import { createRedisEngine } from '../admission/redis/engine.ts';
import { createScripts } from '../admission/redis/scripts.ts';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { nothingAside } from '../kit/set-aside.fixture.ts';
import { spoolDirectory } from '../metering/kept-usage.fixture.ts';
import { startLedgerWorker } from '../metering/ledger-worker.ts';
import { startShardPatrol } from '../metering/shard-patrol.ts';
import { createPostgresLedger } from '../metering/sinks/postgres-ledger.ts';
import { testSealer } from '../metering/test-sealer.fixture.ts';
import { type MigratedDatabase, migratedDatabase } from '../store/fixtures/migrated-database.fixture.ts';
import { createRedis, type Redis } from '../store/redis/redis.ts';
import { usageStreamOf } from '../store/redis/shards.ts';
import type { GatewayOrders } from './killed-gateway.fixture.ts';

/** The chaos runs also kill gateways, in whole fleets. */
const PARTS = IS_LONG ? 10 : 1;
const KILLS_PER_PART = 5;
const SEED = testSeed();
const log = createLog('silent');

interface Gateway {
  readonly child: ChildProcess;
  /** Resolves when the gateway has asked for its first request. */
  readonly serving: Promise<unknown[]>;
  readonly ended: Promise<unknown[]>;
}

describe('a gateway that is killed at any moment', () => {
  let migrated: MigratedDatabase;
  let server: PrivateRedis;
  let redis: Redis;
  const asked = new Set<string>();
  const dispatched = new Set<string>();
  const children: ChildProcess[] = [];
  let directory: ReturnType<typeof spoolDirectory>;

  before(async () => {
    directory = spoolDirectory();
    [migrated, server] = await Promise.all([migratedDatabase(), startRedis({ appendonly: true })]);
    redis = createRedis({ url: server.url, clock: systemClock, log, commandTimeoutMs: 5_000 });
    await redis.whenReady(60_000);
    await toDisk();
  });
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    await redis.close();
    await server.remove();
    await migrated.drop();
    directory[Symbol.dispose]();
  });

  /** Without it, a killed Redis loses writes that it confirmed. */
  async function toDisk(): Promise<void> {
    await redis.run(['CONFIG', 'SET', 'appendfsync', 'always']);
  }

  function start(drain: boolean): Gateway {
    const orders: GatewayOrders = {
      redisUrl: server.url,
      databaseUrl: migrated.url,
      directory: directory.path,
      seed: SEED + children.length,
      drain,
    };
    const entry = join(import.meta.dirname, 'killed-gateway.fixture.ts');
    const child = spawn(process.execPath, [entry, JSON.stringify(orders)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    const sets: Record<string, Set<string>> = { q: asked, d: dispatched };
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (line) => {
      const [what = '', requestId = ''] = line.split(' ');
      sets[what]?.add(requestId);
    });
    const ended = once(child, 'close');
    const serving = Promise.race([once(lines, 'line'), ended]);
    return { child, ended, serving };
  }

  const outages: readonly ((ms: number) => Promise<void>)[] = [
    (ms) => sleep(ms),
    async (ms) => {
      await server.kill();
      await sleep(ms);
      await server.start();
      await redis.whenReady(60_000);
      await toDisk();
    },
    async (ms) => {
      server.pause();
      await sleep(ms);
      server.resume();
    },
    async (ms) => {
      await redis.run(['CONFIG', 'SET', 'maxmemory', '1', 'maxmemory-policy', 'noeviction']);
      await sleep(ms);
      await redis.run(['CONFIG', 'SET', 'maxmemory', '0']);
    },
  ];

  const random = createRandom(SEED);
  let next: Gateway | undefined;

  for (let part = 1; part <= PARTS; part += 1) {
    it(`serves until then, also after other gateways were killed: kills ${part} of ${PARTS}`, async () => {
      for (let kill = 0; kill < KILLS_PER_PART; kill += 1) {
        const victim = next ?? start(false);
        // The next gateway starts while this one runs, and must not take over its files.
        next = start(false);
        await victim.serving;
        assert.equal(victim.child.exitCode, null, 'a gateway has ended by itself');
        const outage = random.pick(outages)(random.integer(20, 500));
        await sleep(random.integer(0, 700));
        victim.child.kill('SIGKILL');
        await Promise.all([victim.ended, outage]);
      }
    });
  }

  it('leaves every request that it dispatched with exactly one row, whatever Redis did meanwhile', async () => {
    next?.child.kill('SIGKILL');
    await next?.ended;
    const [code] = await start(true).ended;
    assert.equal(code, 0, 'something stays in the spool');
    assert.deepEqual(readdirSync(directory.path), []);
    await moveToLedger();

    const rows = await migrated.db.selectFrom('requests').select(['request_id', 'usage_source']).execute();
    const found = new Set(rows.map(({ request_id }) => request_id));
    const lost = [...dispatched].filter((requestId) => !found.has(requestId));
    assert.deepEqual(lost, [], `seed ${SEED}`);
    assert.equal(rows.length, found.size);
    assert.deepEqual(
      [...found].filter((requestId) => !asked.has(requestId)),
      [],
      `seed ${SEED}`,
    );
    const sums = await migrated.db
      .selectFrom('request_rollups')
      .select(['requests_completed', 'requests_failed', 'requests_cancelled'])
      .where('bucket', '=', 'day')
      .where('family', '=', 'caller')
      .execute();
    const counted = sums
      .flatMap((each) => Object.values(each))
      .reduce((sum, count) => sum + Number(count), 0);
    assert.equal(counted, rows.length, `seed ${SEED}`);
    const estimated = rows.filter(({ usage_source }) => usage_source === 'estimated').length;
    assert.ok(
      dispatched.size > PARTS * KILLS_PER_PART * 10,
      `only ${dispatched.size} were dispatched, seed ${SEED}`,
    );
    assert.ok(estimated < rows.length / 2, `${estimated} estimates of ${rows.length}, seed ${SEED}`);
  });

  async function moveToLedger(): Promise<void> {
    const patrol = startShardPatrol({ redis });
    await patrol.firstRound;
    await patrol.stop();
    const later = () => Date.now() + 60_000;
    const engine = createRedisEngine({
      aside: nothingAside,
      scripts: createScripts(redis),
      gatewayId: 'sweep',
      nowMs: later,
      line: NOBODY,
    });
    while ((await engine.sweep()) > 0);
    const worker = startLedgerWorker({
      redis,
      ledger: createPostgresLedger({ db: migrated.db, clock: systemClock }),
      db: migrated.db,
      clock: systemClock,
      sealer: testSealer,
      log,
      consumer: 'worker',
    });
    const endMs = performance.now() + 60_000;
    const waiting = async () => {
      const streams = (await redis.shards.list()).map(usageStreamOf);
      const lengths = await Promise.all(streams.map((stream) => redis.run(['XLEN', stream])));
      return lengths.reduce<number>((sum, length) => sum + Number(length), 0);
    };
    while ((await waiting()) > 0 && performance.now() < endMs) await sleep(50);
    await worker.stop();
    assert.equal(await waiting(), 0, 'entries stay in the streams');
  }
});

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
