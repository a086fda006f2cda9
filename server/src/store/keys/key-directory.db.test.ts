/* oxlint-disable max-lines -- one directory and its two stores, watched from every side */
import assert from 'node:assert/strict';
import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { startTcpProxy, type TcpProxy } from '@relay/testbed';
import { sql } from 'kysely';
import { RelayError } from '../../domain/relay-error.ts';
import { systemClock } from '../../kit/clock.ts';
import { createSealer } from '../../kit/seal.ts';
import { changeAccess, changeConfiguration } from '../configuration/config-version.ts';
import { createSnapshots, type Snapshots } from '../configuration/snapshots.ts';
import {
  type MigratedDatabase,
  migratedDatabase,
  seedOrganization,
  silentLog,
} from '../fixtures/migrated-database.fixture.ts';
import type { NamedStatement } from '../postgres/database-handle.ts';
import { createDatabase, type DatabaseHandle } from '../postgres/postgres.ts';
import { createKeyDirectory, type KeyDirectory, type KeyDirectoryOptions } from './key-directory.ts';
import { pepper, revokeKey, seedKey, seedMember } from './user-keys.fixture.ts';

describe('the key directory', () => {
  let migrated: MigratedDatabase;
  let proxy: TcpProxy;
  let database: DatabaseHandle;
  let snapshots: Snapshots;
  let directory: KeyDirectory;
  let organizationId: string;
  let userId: string;
  const holds = new Map<string, () => Promise<void>>();
  /** Queries for keys and their changes since the test began. */
  let queries = 0;

  before(async () => {
    migrated = await migratedDatabase();
    proxy = await startTcpProxy({ target: migrated.url });
    database = createDatabase({ url: proxy.url, log: silentLog, connectTimeoutMs: 500 });
  });
  beforeEach(async () => {
    ({ organizationId, userId } = await seedOrganization(migrated.db));
    snapshots = createSnapshots({
      database: migrated.database,
      sealer: createSealer({ primary: randomBytes(32) }),
      clock: systemClock,
      log: silentLog,
      pollIntervalMs: 20,
    });
    begin();
  });
  afterEach(async () => {
    directory.stop();
    await snapshots.stop();
    await proxy.heal();
  });
  after(async () => {
    await database.close();
    await proxy.close();
    await migrated.drop();
  });

  function begin(over: Partial<KeyDirectoryOptions> = {}): void {
    directory?.stop();
    queries = 0;
    directory = createKeyDirectory({
      database: { query },
      snapshots,
      log: silentLog,
      keysMax: 100,
      retryMs: 10,
      ...over,
    });
  }

  /** The real database; the test can delay its answers. */
  const query: DatabaseHandle['query'] = async <Row>(statement: NamedStatement) => {
    queries += 1;
    const answer = await database.query<Row>(statement);
    await holds.get(statement.name)?.();
    return answer;
  };

  function holdAnswers(name: string): { executed(count: number): Promise<void>; release(): void } {
    let executed = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    holds.set(name, () => {
      executed += 1;
      return promise;
    });
    return {
      executed: (count) => until(() => executed >= count),
      release() {
        holds.delete(name);
        resolve();
      },
    };
  }

  const owner = () => ({ organizationId, userId });

  function setBudget(keyId: string, limitValue: number, over: { enabled?: boolean } = {}): Promise<number> {
    return changeAccess(migrated.db, organizationId, async (tx) => {
      await tx
        .insertInto('api_key_limit_policies')
        .values({
          organization_id: organizationId,
          id: randomUUIDv7(),
          api_key_id: keyId,
          target_type: 'global',
          metric: 'requests',
          period: limitValue === 1 ? 'minute' : 'day',
          limit_value: limitValue,
          ...over,
        })
        .execute();
      return { result: undefined, keyIds: [keyId] };
    }).then(({ version }) => version);
  }

  it('knows all that an authenticator needs of a key, its enabled budgets included', async () => {
    const expiresAt = new Date('2031-02-03T04:05:06.789Z');
    const scopes = ['relay:request', 'relay:providers:read'] as const;
    const seeded = await seedKey(migrated.db, owner(), { scopes, expiresAt });
    await setBudget(seeded.id, 9_007_199_254_740_991);
    await setBudget(seeded.id, 1);
    await migrated.db
      .updateTable('api_key_limit_policies')
      .set({ enabled: false })
      .where('limit_value', '=', 1)
      .execute();
    const key = await directory.find(seeded.publicId);
    assert.ok(key);
    assert.equal(key.id, seeded.id);
    assert.equal(key.organizationId, organizationId);
    assert.equal(key.userId, userId);
    assert.equal(key.expiresAtMs, expiresAt.getTime());
    assert.equal(key.revokedAtMs, null);
    assert.deepEqual([...key.scopes], scopes);
    assert.equal(Buffer.from(key.digest, 'latin1').length, 32);
    const [policy, ...others] = key.policies;
    assert.deepEqual(others, []);
    assert.deepEqual(policy, {
      id: policy?.id,
      kind: 'api_key',
      subjectId: seeded.id,
      targetType: 'global',
      targetId: null,
      metric: 'requests',
      period: 'day',
      limitValue: 9_007_199_254_740_991,
      unpriced: 'refuse',
      enforcement: 'estimate',
      counter: 0,
    });
    assert.equal(directory.get(seeded.publicId), key);
  });

  it('keys with the same scopes share one set', async () => {
    const [one, two] = await Promise.all([seedKey(migrated.db, owner()), seedKey(migrated.db, owner())]);
    const [first, second] = [await directory.find(one.publicId), await directory.find(two.publicId)];
    assert.equal(first?.scopes, second?.scopes);
  });

  it('queries PostgreSQL once for concurrent callers of a key, and not at all for a held key', async () => {
    const seeded = await seedKey(migrated.db, owner());
    const found = await Promise.all(Array.from({ length: 100 }, () => directory.find(seeded.publicId)));
    assert.equal(new Set(found).size, 1);
    assert.equal(queries, 1);
    for (let round = 0; round < 100; round += 1)
      assert.equal(await directory.find(seeded.publicId), found[0]);
    assert.equal(queries, 1);
  });

  it('an unknown key is not remembered: made a moment later, it works', async () => {
    const seeded = await seedKey(migrated.db, owner());
    const hidden = seeded.publicId.split('').reverse().join('');
    assert.equal(await directory.find(hidden), undefined);
    await migrated.db
      .updateTable('api_keys')
      .set({ public_id: hidden })
      .where('id', '=', seeded.id)
      .execute();
    assert.equal((await directory.find(hidden))?.id, seeded.id);
  });

  it('a caller that joins a lookup from before the key was created does not get its "unknown"', async () => {
    const seeded = await seedKey(migrated.db, owner());
    const publicId = randomBytes(5).toString('hex');
    const answers = holdAnswers('relay_key');
    const before = directory.find(publicId);
    await answers.executed(1);
    await migrated.db
      .updateTable('api_keys')
      .set({ public_id: publicId })
      .where('id', '=', seeded.id)
      .execute();
    const after = directory.find(publicId);
    answers.release();
    assert.equal(await before, undefined);
    assert.equal((await after)?.id, seeded.id);
  });

  it('an outage is an outage, never an unknown key', async () => {
    const seeded = await seedKey(migrated.db, owner());
    await proxy.refuse();
    await assert.rejects(directory.find(seeded.publicId), isUnavailable);
    await proxy.heal();
    assert.equal((await directory.find(seeded.publicId))?.id, seeded.id);
  });

  it('look-ups wait in a line with an end', async () => {
    begin({ readsMax: 2, waitingMax: 3 });
    proxy.stall();
    const found = Array.from({ length: 10 }, (_, index) => directory.find(`unknown${index}00`));
    const outcomes = Promise.allSettled(found);
    await proxy.heal();
    const refused = (await outcomes).filter(({ status }) => status === 'rejected');
    assert.equal(refused.length, 5);
    for (const outcome of refused) assert.ok(outcome.status === 'rejected' && isUnavailable(outcome.reason));
    assert.equal(await directory.find('unknown000'), undefined);
  });

  it('holds at most as many keys as it may', async () => {
    begin({ keysMax: 3 });
    const seeded = [];
    for (let index = 0; index < 5; index += 1) seeded.push(await seedKey(migrated.db, owner()));
    for (const { publicId } of seeded) await directory.find(publicId);
    assert.equal(directory.size(), 3);
    assert.deepEqual(
      seeded.map(({ publicId }) => directory.get(publicId) !== undefined),
      [false, false, true, true, true],
    );
  });

  it('brought up to a version, it has dropped what changed and kept what did not, with one query', async () => {
    const [gone, stays] = [await seedKey(migrated.db, owner()), await seedKey(migrated.db, owner())];
    await directory.find(gone.publicId);
    const kept = await directory.find(stays.publicId);
    const version = await revokeKey(migrated.db, organizationId, gone.id);
    assert.equal(directory.isCurrent(organizationId, version), false);
    queries = 0;
    await Promise.all(Array.from({ length: 50 }, () => directory.catchUp(organizationId, version)));
    assert.ok(queries <= 2, `${queries} queries`);
    assert.ok(directory.isCurrent(organizationId, version));
    assert.equal(directory.get(gone.publicId), undefined);
    assert.equal(directory.get(stays.publicId), kept);
    assert.notEqual((await directory.find(gone.publicId, version))?.revokedAtMs, null);
  });

  it('an organization of which no key is held is current without asking', async () => {
    assert.ok(directory.isCurrent(organizationId, 1_000_000));
    await directory.catchUp(organizationId, 1_000_000);
    assert.equal(queries, 0);
  });

  it('found at a version, a key is never older than that, however reads and changes overlap', async () => {
    const seeded = await seedKey(migrated.db, owner());
    let changing = true;
    let confirmed = 0;
    let limit = 0;
    const writer = async () => {
      for (let round = 1; round <= 40; round += 1) {
        const { version } = await changeAccess(migrated.db, organizationId, async (tx) => {
          await sql`insert into api_key_limit_policies (organization_id, id, api_key_id, target_type, metric, period, limit_value)
            values (${organizationId}, ${randomUUIDv7()}, ${seeded.id}, 'global', 'tokens', 'day', ${round})
            on conflict (organization_id, api_key_id, target_type, target_id, metric, period)
            do update set limit_value = excluded.limit_value`.execute(tx);
          return { result: undefined, keyIds: [seeded.id] };
        });
        confirmed = version;
        limit = round;
      }
      changing = false;
    };
    const reader = async () => {
      while (changing) {
        await new Promise(setImmediate);
        const [version, atLeast] = [confirmed, limit];
        const key = await directory.find(seeded.publicId, version);
        const seen = key?.policies[0]?.limitValue ?? 0;
        assert.ok(seen >= atLeast, `a budget of ${seen} although ${atLeast} was committed before`);
      }
    };
    await Promise.all([writer(), ...Array.from({ length: 10 }, reader)]);
  });

  it('a read that was overtaken by a change is repeated before it is kept', async () => {
    const [hot, cold] = [await seedKey(migrated.db, owner()), await seedKey(migrated.db, owner())];
    await directory.find(hot.publicId);
    const answers = holdAnswers('relay_key');
    const finding = directory.find(cold.publicId);
    await answers.executed(1);
    const version = await revokeKey(migrated.db, organizationId, cold.id);
    await directory.catchUp(organizationId, version);
    answers.release();
    assert.notEqual((await finding)?.revokedAtMs, null);
  });

  it('a caller that joins a read that is too old gets the current key', async () => {
    const seeded = await seedKey(migrated.db, owner());
    const answers = holdAnswers('relay_key');
    const early = directory.find(seeded.publicId);
    await answers.executed(1);
    const version = await revokeKey(migrated.db, organizationId, seeded.id);
    const late = directory.find(seeded.publicId, version);
    answers.release();
    await early;
    assert.notEqual((await late)?.revokedAtMs, null);
  });

  it('keys of a member who left are dropped, and are revoked when the member comes back', async () => {
    const member = await seedMember(migrated.db, organizationId);
    const left = await seedKey(migrated.db, { organizationId, userId: member });
    const stays = await seedKey(migrated.db, owner());
    await directory.find(left.publicId);
    await directory.find(stays.publicId);
    const { version } = await changeAccess(migrated.db, organizationId, async (tx) => {
      await tx.deleteFrom('organization_members').where('user_id', '=', member).execute();
      return { result: undefined, keyIds: [] };
    });
    const back = await changeAccess(migrated.db, organizationId, async (tx) => {
      await tx
        .insertInto('organization_members')
        .values({ organization_id: organizationId, user_id: member, role: 'developer' })
        .execute();
      return { result: undefined, keyIds: [] };
    });
    assert.ok(back.version > version);
    assert.ok((await directory.find(left.publicId, back.version))?.revokedAtMs);
    assert.ok(directory.get(stays.publicId));
  });

  it('a key whose owner leaves while changes are being read does not slip through between the two', async () => {
    const member = await seedMember(migrated.db, organizationId);
    const theirs = await seedKey(migrated.db, { organizationId, userId: member });
    const hot = await seedKey(migrated.db, owner());
    await directory.find(hot.publicId);
    const keys = holdAnswers('relay_key');
    const finding = directory.find(theirs.publicId);
    await keys.executed(1);
    const { version } = await changeAccess(migrated.db, organizationId, async (tx) => {
      await tx.deleteFrom('organization_members').where('user_id', '=', member).execute();
      return { result: undefined, keyIds: [] };
    });
    const changes = holdAnswers('relay_key_changes');
    const caughtUp = directory.catchUp(organizationId, version);
    await changes.executed(1);
    keys.release();
    await finding;
    changes.release();
    await caughtUp;
    assert.ok(directory.isCurrent(organizationId, version));
    assert.equal(directory.get(theirs.publicId), undefined);
    assert.equal(await directory.find(theirs.publicId), undefined);
  });

  it('follows the snapshots: a budget changed elsewhere arrives without a request, and only changed keys are read again', async () => {
    const [changed, stays] = [await seedKey(migrated.db, owner()), await seedKey(migrated.db, owner())];
    await directory.find(changed.publicId);
    const kept = await directory.find(stays.publicId);
    await snapshots.load(organizationId);
    snapshots.start();
    await setBudget(changed.id, 5);
    await until(() => directory.get(changed.publicId) === undefined);
    assert.equal((await directory.find(changed.publicId))?.policies[0]?.limitValue, 5);
    assert.equal(directory.get(stays.publicId), kept);
  });

  it('changes missed while PostgreSQL was unavailable are followed when it returns', async () => {
    const seeded = await seedKey(migrated.db, owner());
    await directory.find(seeded.publicId);
    await snapshots.load(organizationId);
    snapshots.start();
    await proxy.refuse();
    const version = await setBudget(seeded.id, 5);
    await until(() => (snapshots.get(organizationId)?.version ?? 0) >= version);
    assert.ok(directory.get(seeded.publicId), 'known keys outlive PostgreSQL');
    await proxy.heal();
    await until(() => directory.get(seeded.publicId) === undefined);
  });

  it('configuration of organizations without held keys is not asked about', async () => {
    await snapshots.load(organizationId);
    snapshots.start();
    const version = await changeConfiguration(migrated.db, organizationId, () => Promise.resolve(0));
    await until(() => (snapshots.get(organizationId)?.version ?? 0) > version);
    assert.equal(queries, 0);
  });

  it('a database that was set back drops what is held of its organizations', async () => {
    const seeded = await seedKey(migrated.db, owner());
    await setBudget(seeded.id, 5);
    await directory.find(seeded.publicId);
    await sql`update organizations set config_version = 0 where id = ${organizationId}`.execute(migrated.db);
    await directory.catchUp(organizationId, 1_000_000);
    assert.equal(directory.get(seeded.publicId), undefined);
  });

  it('keeps no secret: the digest under the pepper is all there is', async () => {
    const seeded = await seedKey(migrated.db, owner());
    const key = await directory.find(seeded.publicId);
    const held = JSON.stringify({
      ...key,
      owner: undefined,
      organization: undefined,
      older: undefined,
      newer: undefined,
    });
    assert.equal(held.includes(seeded.key.slice(15)), false);
    assert.equal(held.includes(pepper.export().toString('latin1')), false);
  });
});

async function until(holds: () => boolean): Promise<void> {
  const endMs = performance.now() + 5_000;
  while (!holds()) {
    if (performance.now() > endMs) throw new Error('it did not come to pass');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof RelayError && error.code === 'store_unavailable';
}
