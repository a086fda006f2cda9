import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, beforeEach } from 'node:test';
import { startRedis } from '@relay/testbed';
import { reportFigures } from '../harness/figures.ts';
import { startRefused, startRelay } from '../harness/relay-process.ts';
import { severalProcesses } from '../harness/stores.ts';
import { until } from '../harness/until.ts';
import {
  type SharedStores,
  type StoreSetting,
  serve,
  startStores,
  startTenant,
  type Tenant,
} from './site.ts';

// Two deployments, each with its own database, are given one Redis, one stream, one spool or one folder of usage files.

const SETTINGS: Readonly<Record<StoreSetting, RegExp>> = {
  REDIS_URL: /Redis \(REDIS_URL\)/,
  RELAY_NATS_URL: /The NATS stream USAGE/,
  RELAY_SPOOL_DIR: /The spool directory/,
  RELAY_USAGE_FILES_DIR: /The directory of usage files/,
};
const CHANGED_MS_MAX = 30_000;

const figures = { refused: 0, served: 0, lost: 0, doubled: 0, swaps: 0 };
let stores: SharedStores[];
let tenants: Tenant[];

beforeEach(() => {
  [stores, tenants] = [[], []];
});
afterEach(async () => {
  await Promise.all(tenants.map((tenant) => tenant.stop()));
  await Promise.all(stores.map((each) => each.remove()));
});
after(() => reportFigures(figures));

async function newStores(): Promise<SharedStores> {
  const started = await startStores();
  stores.push(started);
  return started;
}

async function newTenant(on: SharedStores): Promise<Tenant> {
  const started = await startTenant(on);
  tenants.push(started);
  return started;
}

/** The start of this one must fail, and name the store and both deployments. */
async function assertRefused(
  late: Tenant,
  first: Tenant,
  env: Record<string, string>,
  store: RegExp,
): Promise<void> {
  const { code, stderr } = await startRefused({ env: { ...late.env, ...env } });
  assert.notEqual(code, 0, stderr);
  assert.match(stderr, store);
  assert.match(stderr, /belongs to another deployment/);
  for (const tenant of [late, first]) assert.ok(stderr.includes(await tenant.id()), stderr);
  figures.refused += 1;
}

async function assertExact(tenant: Tenant): Promise<void> {
  const { served, lost, doubled } = await tenant.judge();
  figures.served += served;
  figures.lost += lost;
  figures.doubled += doubled;
  assert.ok(served > 0);
  assert.deepEqual({ lost, doubled }, { lost: 0, doubled: 0 });
}

async function readiness(url: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, text: await response.text() };
}

severalProcesses.describe('a second deployment', () => {
  severalProcesses.it(
    'is refused at each store of one that serves, whichever of the two is first',
    async () => {
      const [shared, own] = [await newStores(), await newStores()];
      const [one, two] = [await newTenant(shared), await newTenant(own)];
      for (const [first, late, on] of [
        [one, two, shared],
        [two, one, own],
      ] as const) {
        await serve(first);
        const stopLoad = first.load();
        for (const [setting, store] of Object.entries(SETTINGS))
          await assertRefused(late, first, { [setting]: on.env[setting as StoreSetting] }, store);
        const statuses = await stopLoad();
        assert.deepEqual([...statuses.keys()], [200]);
        await assertExact(first);
        for (const process of first.deployment.processes) await process.stop();
      }
      // The mark outlives its processes, and its own ones start again.
      await assertRefused(two, one, { REDIS_URL: shared.env.REDIS_URL }, SETTINGS.REDIS_URL);
      await one.deployment.startProcess();
    },
  );

  severalProcesses.it('that starts at the same time leaves exactly one', async () => {
    const shared = await newStores();
    const both = [await newTenant(shared), await newTenant(shared)];
    const outcomes = await Promise.allSettled(both.map((tenant) => tenant.deployment.startProcess()));
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    figures.refused += 1;
  });

  severalProcesses.it('whose database of Redis is another one starts', async () => {
    const [shared, own] = [await newStores(), await newStores()];
    const [one, two] = [await newTenant(shared), await newTenant(own)];
    await one.deployment.startProcess();
    await two.deployment.startProcess({ env: { REDIS_URL: `${shared.env.REDIS_URL}/1` } });
  });
});

severalProcesses.describe('a Redis that is swapped for another deployment’s while both serve', () => {
  severalProcesses.it(
    'is not used, makes the process not ready, and costs neither of the two a row',
    async () => {
      const [mine, theirs] = [await newStores(), await newStores()];
      const [one, two] = [await newTenant(mine), await newTenant(theirs)];
      await Promise.all([serve(one), serve(two)]);
      const [process] = one.deployment.processes;
      assert.ok(process !== undefined);
      const stopLoads = [one.load(), two.load()];
      for (let round = 0; round < 3; round += 1) {
        mine.proxy.retarget(theirs.redis.url);
        mine.proxy.cut();
        const isNoticed = await until(
          async () => (await readiness(process.url)).status === 503,
          CHANGED_MS_MAX,
        );
        assert.ok(isNoticed, 'the process stays ready');
        const { text } = await readiness(process.url);
        assert.ok(text.includes(await one.id()) && text.includes(await two.id()), text);
        assert.equal((await readiness(two.deployment.processes[0]?.url ?? '')).status, 200);
        mine.proxy.retarget(mine.redis.url);
        mine.proxy.cut();
        const isBack = await until(async () => (await readiness(process.url)).status === 200, CHANGED_MS_MAX);
        assert.ok(isBack, 'the process is not ready again');
        figures.swaps += 1;
      }
      for (const statuses of await Promise.all(stopLoads.map((stop) => stop())))
        assert.deepEqual([...statuses.keys()], [200]);
      await assertExact(one);
      await assertExact(two);
      const linesOf = (words: string) => process.logs.filter(({ msg }) => String(msg).includes(words)).length;
      // A warning that repeats within seconds is counted in the next one; lines of lower levels are all written.
      const foreign = linesOf('belongs to another deployment');
      assert.ok(foreign >= 1 && foreign <= 3, `${foreign} lines for 3 swaps`);
      assert.equal(linesOf('belongs to this deployment again'), 3, 'one line for each way back');
    },
  );
});

severalProcesses.describe('a spool that cannot be written', () => {
  severalProcesses.it('refuses the start of a gateway, and not that of a worker', async () => {
    const on = await newStores();
    const tenant = await newTenant(on);
    // Root may write where the mode forbids it, so the directory is below a file.
    const file = join(on.spool, '../file');
    writeFileSync(file, '');
    mkdirSync(on.spool, { recursive: true });
    chmodSync(on.spool, 0o700);
    const env = { ...tenant.env, RELAY_SPOOL_DIR: join(file, 'spool') };
    const { code, stderr } = await startRefused({ env, role: 'inference' });
    assert.notEqual(code, 0);
    assert.match(stderr, /can’t write to the spool directory .*ENOTDIR.*RELAY_SPOOL_DIR/s);
    const worker = await startRelay({ env, role: 'worker' });
    assert.equal(await worker.stop(), 0);
  });
});

severalProcesses.describe('a Redis that comes back empty', () => {
  severalProcesses.it('belongs to the first that asks, and the other one says so', async () => {
    const mine = await newStores();
    const one = await newTenant(mine);
    await serve(one);
    const empty = await startRedis();
    mine.proxy.retarget(empty.url);
    mine.proxy.cut();
    const [process] = one.deployment.processes;
    const isReady = await until(
      async () => (await readiness(process?.url ?? '')).status === 200,
      CHANGED_MS_MAX,
    );
    assert.ok(isReady);
    const stopLoad = one.load();
    const late = await newTenant(await newStores());
    await assertRefused(late, one, { REDIS_URL: empty.url }, SETTINGS.REDIS_URL);
    assert.deepEqual([...(await stopLoad()).keys()], [200]);
    await assertExact(one);
    await one.deployment.processes[0]?.stop();
    await empty.remove();
  });
});
