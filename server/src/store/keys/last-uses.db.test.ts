import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { startTcpProxy, type TcpProxy } from '@relay/testbed';
import {
  type MigratedDatabase,
  migratedDatabase,
  seedOrganization,
  silentLog,
} from '../fixtures/migrated-database.fixture.ts';
import { createDatabase, type DatabaseHandle } from '../postgres/postgres.ts';
import { createLastUses, type LastUses, type LastUsesOptions } from './last-uses.ts';
import { seedKey } from './user-keys.fixture.ts';

const START_MS = Date.parse('2030-01-02T03:04:05.678Z');

describe('uses of keys', () => {
  let migrated: MigratedDatabase;
  let proxy: TcpProxy;
  let database: DatabaseHandle;
  let uses: LastUses;
  let owner: { organizationId: string; userId: string };
  let nowMs = START_MS;
  let statements = 0;

  before(async () => {
    migrated = await migratedDatabase();
    proxy = await startTcpProxy({ target: migrated.url });
    database = createDatabase({ url: proxy.url, log: silentLog, connectTimeoutMs: 500 });
    database.watchConnections((event) => {
      if (event === 'acquired') statements += 1;
    });
  });
  beforeEach(async () => {
    owner = await seedOrganization(migrated.db);
    nowMs = START_MS;
    statements = 0;
    uses = begin();
  });
  after(async () => {
    await database.close();
    await proxy.close();
    await migrated.drop();
  });

  function begin(over: Partial<LastUsesOptions> = {}): LastUses {
    return createLastUses({
      table: 'api_keys',
      db: database.db,
      clock: { nowMs: () => nowMs },
      log: silentLog,
      ...over,
    });
  }

  async function seed(): Promise<{ id: string; organizationId: string; lastUsedAtMs: number }> {
    const { id } = await seedKey(migrated.db, owner);
    return { id, organizationId: owner.organizationId, lastUsedAtMs: 0 };
  }

  async function usedAtMs(keyId: string, which: 'first_used_at' | 'last_used_at' = 'last_used_at') {
    const row = await migrated.db
      .selectFrom('api_keys')
      .select(['first_used_at', 'last_used_at'])
      .where('id', '=', keyId)
      .executeTakeFirstOrThrow();
    return row[which]?.getTime() ?? null;
  }

  it('of a thousand requests with two keys are one statement', async () => {
    const [one, two] = [await seed(), await seed()];
    for (let round = 0; round < 500; round += 1) {
      uses.note(one);
      uses.note(two);
    }
    assert.equal(statements, 0);
    await uses.flush();
    assert.equal(statements, 1);
    assert.deepEqual([await usedAtMs(one.id), await usedAtMs(two.id)], [START_MS, START_MS]);
    await uses.flush();
    assert.equal(statements, 1);
  });

  it('are written again after a minute of use, not sooner', async () => {
    const key = await seed();
    uses.note(key);
    await uses.flush();
    nowMs = START_MS + 59_000;
    uses.note(key);
    await uses.flush();
    assert.equal(await usedAtMs(key.id), START_MS);
    nowMs = START_MS + 61_000;
    uses.note(key);
    await uses.flush();
    assert.equal(await usedAtMs(key.id), nowMs);
  });

  it('keep the first one, and do not guess it for a key that was used before', async () => {
    const [key, old] = [await seed(), await seed()];
    const before = { last_used_at: new Date(START_MS - 3_600_000) };
    await migrated.db.updateTable('api_keys').set(before).where('id', '=', old.id).execute();
    for (nowMs of [START_MS, START_MS + 120_000]) {
      uses.note(key);
      uses.note(old);
      await uses.flush();
    }
    assert.equal(await usedAtMs(key.id, 'first_used_at'), START_MS);
    assert.equal(await usedAtMs(key.id), START_MS + 120_000);
    assert.equal(await usedAtMs(old.id, 'first_used_at'), null);
    assert.equal(await usedAtMs(old.id), START_MS + 120_000);
  });

  it('are bookkeeping: neither the key’s version nor its update time moves', async () => {
    const key = await seed();
    const row = () =>
      migrated.db.selectFrom('api_keys').selectAll().where('id', '=', key.id).executeTakeFirst();
    const before = await row();
    uses.note(key);
    await uses.flush();
    const written = await row();
    assert.deepEqual({ ...written, first_used_at: null, last_used_at: null }, before);
  });

  it('never go back: a late writer does not overwrite a newer value', async () => {
    const key = await seed();
    const copy = { ...key };
    nowMs = START_MS + 300_000;
    uses.note(key);
    await uses.flush();
    nowMs = START_MS;
    uses.note(copy);
    await uses.flush();
    assert.equal(await usedAtMs(key.id), START_MS + 300_000);
  });

  it('skip a locked row and write it the next time', async () => {
    const [held, free] = [await seed(), await seed()];
    await migrated.db.transaction().execute(async (tx) => {
      await tx.selectFrom('api_keys').select('id').where('id', '=', held.id).forUpdate().execute();
      uses.note(held);
      uses.note(free);
      await uses.flush();
      assert.equal(await usedAtMs(free.id), START_MS);
    });
    assert.equal(await usedAtMs(held.id), null);
    await uses.flush();
    assert.equal(await usedAtMs(held.id), START_MS);
  });

  it('of a deleted key are given up after a few attempts', async () => {
    const key = await seed();
    await migrated.db.deleteFrom('api_keys').where('id', '=', key.id).execute();
    uses.note(key);
    for (let round = 0; round < 10; round += 1) await uses.flush();
    assert.ok(statements < 6, `${statements} statements`);
  });

  it('outlive an outage and are written when PostgreSQL is back', async () => {
    const key = await seed();
    uses.note(key);
    await proxy.refuse();
    await uses.flush();
    await proxy.heal();
    await uses.flush();
    assert.equal(await usedAtMs(key.id), START_MS);
  });

  it('that do not fit are not noted, and are when there is room', async () => {
    const small = begin({ rowsMax: 2 });
    const keys = [await seed(), await seed(), await seed()];
    for (const key of keys) small.note(key);
    await small.flush();
    const written = await Promise.all(keys.map(({ id }) => usedAtMs(id)));
    assert.deepEqual(written, [START_MS, START_MS, null]);
    for (const key of keys) small.note(key);
    await small.flush();
    assert.equal(await usedAtMs(keys[2]?.id ?? ''), START_MS);
  });

  it('of several gateways do not deadlock and lose nothing', async () => {
    const keys = await Promise.all(Array.from({ length: 40 }, seed));
    const gateways = Array.from({ length: 8 }, () => begin({ precisionMs: 0 }));
    for (let round = 1; round <= 5; round += 1) {
      nowMs = START_MS + round * 1_000;
      await Promise.all(
        gateways.map(async (gateway, index) => {
          const order = index % 2 === 0 ? keys : [...keys].reverse();
          for (const key of order) gateway.note({ ...key });
          await gateway.flush();
        }),
      );
    }
    for (const gateway of gateways) await gateway.flush();
    for (const { id } of keys) assert.equal(await usedAtMs(id), START_MS + 5_000);
  });

  it('are flushed by themselves, and the rest at stop', async () => {
    const [early, late] = [await seed(), await seed()];
    const running = begin({ flushIntervalMs: 20 });
    running.start();
    running.note(early);
    while ((await usedAtMs(early.id)) === null) await new Promise((resolve) => setTimeout(resolve, 10));
    running.note(late);
    await running.stop();
    assert.equal(await usedAtMs(late.id), START_MS);
  });
});
