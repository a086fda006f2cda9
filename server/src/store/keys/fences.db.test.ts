import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type PrivateRedis, startRedis, startTcpProxy, type TcpProxy } from '@relay/testbed';
import { RelayError } from '../../domain/relay-error.ts';
import { systemClock } from '../../kit/clock.ts';
import { changeAccess } from '../configuration/config-version.ts';
import {
  type MigratedDatabase,
  migratedDatabase,
  seedOrganization,
  silentLog,
} from '../fixtures/migrated-database.fixture.ts';
import { createDatabase, type DatabaseHandle } from '../postgres/postgres.ts';
import { createRedis, type Redis } from '../redis/redis.ts';
import { prefixOf } from '../redis/shards.ts';
import { createFences, createLocalFences, type Fences } from './fences.ts';

describe('fences', () => {
  let migrated: MigratedDatabase;
  let proxy: TcpProxy;
  let database: DatabaseHandle;
  let server: PrivateRedis;
  let redis: Redis;
  let fences: Fences;
  let organizationId: string;

  before(async () => {
    migrated = await migratedDatabase();
    proxy = await startTcpProxy({ target: migrated.url });
    database = createDatabase({ url: proxy.url, log: silentLog, connectTimeoutMs: 500 });
    server = await startRedis();
    redis = createRedis({ url: server.url, clock: systemClock, log: silentLog });
    await redis.whenReady(60_000);
    fences = createFences({ redis, db: database.db });
  });
  beforeEach(async () => {
    ({ organizationId } = await seedOrganization(migrated.db));
  });
  after(async () => {
    await redis.close();
    await server.remove();
    await database.close();
    await proxy.close();
    await migrated.drop();
  });

  const keyOf = (id: string) => `${prefixOf(id)}fence:${id}`;
  const stored = () => redis.run(['GET', keyOf(organizationId)], keyOf(organizationId));

  async function change(): Promise<number> {
    const { version } = await changeAccess(migrated.db, organizationId, async () => ({
      result: undefined,
      keyIds: [],
    }));
    return version;
  }

  it('are only ever raised, in whatever order writers arrive', async () => {
    const versions = [5, 9, 3, 9, 12, 7, 10].map((each) => each + 1_000);
    await Promise.all(versions.map((version) => fences.raise(organizationId, version)));
    assert.equal(await fences.read(organizationId), 1_012);
    await fences.raise(organizationId, 1_001);
    assert.equal(await fences.read(organizationId), 1_012);
  });

  it('that Redis does not hold are read from PostgreSQL and told to Redis', async () => {
    const version = await change();
    assert.equal(await stored(), null);
    assert.equal(await fences.read(organizationId), version);
    assert.equal(await stored(), String(version));
  });

  it('that are no numbers count as none', async () => {
    const version = await change();
    await redis.run(['SET', keyOf(organizationId), 'NaN'], keyOf(organizationId));
    assert.equal(await fences.read(organizationId), version);
    assert.equal(await stored(), String(version));
  });

  it('of an organization that does not exist are zero', async () => {
    assert.equal(await fences.read(randomUUIDv7()), 0);
  });

  it('a reader that comes after a change was confirmed sees it, however many read at the same time', async () => {
    let confirmed = await change();
    await fences.raise(organizationId, confirmed);
    let writing = true;
    const writer = async () => {
      for (let round = 0; round < 50; round += 1) {
        const version = await change();
        await fences.raise(organizationId, version);
        confirmed = version;
      }
      writing = false;
    };
    const reader = async () => {
      while (writing) {
        const atLeast = confirmed;
        const seen = await fences.read(organizationId);
        assert.ok(seen >= atLeast, `${seen} although ${atLeast} was confirmed`);
      }
    };
    await Promise.all([writer(), ...Array.from({ length: 20 }, reader)]);
  });

  it('above all that PostgreSQL holds are forgotten, and nothing raised meanwhile with them', async () => {
    const version = await change();
    await fences.raise(organizationId, version + 1_000_000);
    await fences.forget(organizationId, version + 999_999);
    assert.equal(await fences.read(organizationId), version + 1_000_000);
    const later = await change();
    await fences.raise(organizationId, later);
    await fences.forget(organizationId, version + 1_000_000);
    assert.equal(await fences.read(organizationId), later);
  });

  it('come from Redis alone while PostgreSQL is unavailable', async () => {
    const version = await change();
    await fences.read(organizationId);
    await proxy.refuse();
    try {
      assert.equal(await fences.read(organizationId), version);
    } finally {
      await proxy.heal();
    }
  });

  it('are PostgreSQL’s versions while Redis is frozen, with one query in flight for all organizations', async () => {
    const others = await Promise.all(Array.from({ length: 20 }, () => seedOrganization(migrated.db)));
    const version = await change();
    let [queries, atOnce, atOnceMax] = [0, 0, 0];
    const unwatch = database.watchConnections((event) => {
      if (event === 'released') atOnce -= 1;
      if (event !== 'acquired') return;
      queries += 1;
      atOnce += 1;
      atOnceMax = Math.max(atOnceMax, atOnce);
    });
    server.pause();
    try {
      const reads = [organizationId, ...others.map((other) => other.organizationId)].flatMap((id) =>
        Array.from({ length: 50 }, () => fences.read(id)),
      );
      const [first] = await Promise.all(reads);
      assert.equal(first, version);
      const later = await change();
      assert.equal(await fences.read(organizationId), later);
      assert.equal(atOnceMax, 1);
      assert.ok(queries < 50, `${queries} queries for ${reads.length} readers`);
      await assert.rejects(fences.raise(organizationId, later), isUnavailable);
    } finally {
      unwatch();
      server.resume();
    }
    await redis.whenReady(60_000);
  });

  it('cannot be told when neither store answers, which is an outage and not an answer', async () => {
    await server.kill();
    await proxy.refuse();
    try {
      await assert.rejects(fences.read(organizationId), isUnavailable);
    } finally {
      await proxy.heal();
      await server.start();
    }
    await redis.whenReady(60_000);
    const version = await change();
    assert.equal(await fences.read(organizationId), version);
  });

  it('of a process that is the whole deployment are the committed versions, and are raised immediately', async () => {
    const local = createLocalFences({ db: migrated.db });
    const version = await change();
    assert.equal(await local.read(organizationId), version);
    await local.raise(organizationId, version + 5);
    await local.raise(organizationId, version + 2);
    assert.equal(await local.read(organizationId), version + 5);
    // A fence above every committed version leaves nothing behind.
    await local.forget(organizationId, version + 5);
    assert.equal(await local.read(organizationId), version);
    assert.equal(await stored(), null);
  });

  it('of such a process that are raised while they are read stay raised', async () => {
    const local = createLocalFences({ db: migrated.db });
    const version = await change();
    const reading = local.read(organizationId);
    await local.raise(organizationId, version + 1);
    assert.equal(await reading, version + 1);
  });
});

function isUnavailable(error: unknown): boolean {
  return error instanceof RelayError && error.code === 'store_unavailable';
}
