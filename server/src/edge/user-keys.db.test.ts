import assert from 'node:assert/strict';
import { createSecretKey, type KeyObject, randomBytes, randomUUIDv7 } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { type PrivateRedis, startRedis, startTcpProxy, type TcpProxy } from '@relay/testbed';
import { mintApiKey } from '../domain/api-key.ts';
import type { Caller } from '../domain/caller.ts';
import { RelayError } from '../domain/relay-error.ts';
import { systemClock } from '../kit/clock.ts';
import { createSealer } from '../kit/seal.ts';
import { changeAccess } from '../store/configuration/config-version.ts';
import { createSnapshots, type Snapshots } from '../store/configuration/snapshots.ts';
import {
  type MigratedDatabase,
  migratedDatabase,
  seedOrganization,
  silentLog,
} from '../store/fixtures/migrated-database.fixture.ts';
import { createFences, type Fences } from '../store/keys/fences.ts';
import { createFreshness } from '../store/keys/freshness.ts';
import { createKeyDirectory, type KeyDirectory } from '../store/keys/key-directory.ts';
import { createLastUses, type LastUses } from '../store/keys/last-uses.ts';
import { pepper, revokeKey, seedKey, seedMember } from '../store/keys/user-keys.fixture.ts';
import { createDatabase, type DatabaseHandle } from '../store/postgres/postgres.ts';
import { createRedis, type Redis } from '../store/redis/redis.ts';
import { createUserKeys, type OpenWithKey } from './user-keys.ts';

/** A gateway's authenticator with everything behind it. */
interface Gateway {
  readonly database: DatabaseHandle;
  readonly redis: Redis;
  readonly snapshots: Snapshots;
  readonly directory: KeyDirectory;
  readonly uses: LastUses;
  readonly open: OpenWithKey;
  queries: number;
  stop(): Promise<void>;
}

describe('User API keys', () => {
  let migrated: MigratedDatabase;
  let postgres: TcpProxy;
  let server: PrivateRedis;
  /** The process that revokes access. */
  let fences: Fences;
  let redis: Redis;
  let gateways: Gateway[] = [];
  let owner: { organizationId: string; userId: string };
  let nowMs: () => number = Date.now;

  before(async () => {
    migrated = await migratedDatabase();
    postgres = await startTcpProxy({ target: migrated.url });
    server = await startRedis();
    redis = createRedis({ url: server.url, clock: systemClock, log: silentLog });
    await redis.whenReady(60_000);
    fences = createFences({ redis, db: migrated.db });
  });
  beforeEach(async () => {
    owner = await seedOrganization(migrated.db);
    nowMs = Date.now;
  });
  afterEach(async () => {
    await postgres.heal();
    await Promise.all(gateways.map((each) => each.stop()));
    gateways = [];
  });
  after(async () => {
    await redis.close();
    await server.remove();
    await postgres.close();
    await migrated.drop();
  });

  /** It never polls by itself, so everything it notices it has read on purpose. */
  async function gateway(
    keysMax = 100,
    peppers = [pepper],
    onlyUserId: string | null = null,
  ): Promise<Gateway> {
    const database = createDatabase({ url: postgres.url, log: silentLog, connectTimeoutMs: 500 });
    const ownRedis = createRedis({ url: server.url, clock: systemClock, log: silentLog });
    await ownRedis.whenReady(60_000);
    const sealer = createSealer({ primary: randomBytes(32) });
    const snapshots = createSnapshots({ database, sealer, clock: systemClock, log: silentLog });
    const directory = createKeyDirectory({ database, snapshots, log: silentLog, keysMax });
    const uses = createLastUses({ table: 'api_keys', db: database.db, clock: systemClock, log: silentLog });
    const ownFences = createFences({ redis: ownRedis, db: database.db });
    const freshen = createFreshness({ fences: ownFences, snapshots });
    const clock = { nowMs: () => nowMs() };
    const made: Gateway = {
      database,
      redis: ownRedis,
      snapshots,
      directory,
      uses,
      open: createUserKeys({ directory, freshen, uses, peppers, clock, onlyUserId }),
      queries: 0,
      async stop() {
        directory.stop();
        await snapshots.stop();
        await ownRedis.close();
        await database.close();
      },
    };
    database.watchConnections((event) => {
      if (event === 'acquired') made.queries += 1;
    });
    gateways.push(made);
    return made;
  }

  async function codeOf(opened: Promise<Caller>): Promise<string> {
    try {
      await opened;
      return 'opened';
    } catch (error) {
      assert.ok(error instanceof RelayError, String(error));
      return error.code;
    }
  }

  /** What management does to revoke access. */
  async function takeAway(change: Parameters<typeof changeAccess<undefined>>[2]): Promise<void> {
    const { version } = await changeAccess(migrated.db, owner.organizationId, change);
    await fences.raise(owner.organizationId, version);
  }

  it('let their owner in with what both of them may do', async () => {
    const userId = await seedMember(migrated.db, owner.organizationId, 'developer');
    const scopes = ['relay:request', 'relay:providers:read', 'relay:providers:manage'] as const;
    const seeded = await seedKey(migrated.db, { ...owner, userId }, { scopes });
    const { open } = await gateway();
    const caller = await open(seeded.key);
    assert.equal(caller.organizationId, owner.organizationId);
    assert.equal(caller.userId, userId);
    assert.equal(caller.keyId, seeded.id);
    assert.equal(caller.kind, 'user_key');
    // A developer may not manage providers, even if the key has the scope.
    assert.deepEqual([...caller.scopes], ['relay:request', 'relay:providers:read']);
    assert.deepEqual([...(caller.access.granted ?? [])], scopes);
    assert.equal(caller.access.plan, 'team');
    assert.deepEqual(caller.keyPolicies, []);
    const again = await open(seeded.key);
    assert.equal(again.scopes, caller.scopes, 'worked out once, not for each request');
  });

  it('carry the budgets of this very key', async () => {
    const [limited, free] = [await seedKey(migrated.db, owner), await seedKey(migrated.db, owner)];
    await takeAway(async (tx) => {
      await tx
        .insertInto('api_key_limit_policies')
        .values({
          organization_id: owner.organizationId,
          id: randomUUIDv7(),
          api_key_id: limited.id,
          target_type: 'global',
          metric: 'requests',
          period: 'day',
          limit_value: 10,
        })
        .execute();
      return { result: undefined, keyIds: [limited.id] };
    });
    const { open } = await gateway();
    const [policy] = (await open(limited.key)).keyPolicies;
    assert.deepEqual([policy?.kind, policy?.subjectId, policy?.limitValue], ['api_key', limited.id, 10]);
    assert.deepEqual((await open(free.key)).keyPolicies, []);
  });

  it('that are malformed or mistyped are refused without asking any store', async () => {
    const seeded = await seedKey(migrated.db, owner);
    const made = await gateway();
    const last = seeded.key.at(-1) === 'a' ? 'b' : 'a';
    await made.redis.close();
    for (const wrong of ['rly_', 'rly_x', seeded.key.slice(0, -1), `${seeded.key.slice(0, -1)}${last}`])
      assert.equal(await codeOf(made.open(wrong)), 'invalid_api_key');
    assert.equal(made.queries, 0);
  });

  it('that are unknown, or whose secret is another, are invalid', async () => {
    const seeded = await seedKey(migrated.db, owner);
    const made = await gateway();
    assert.equal(await codeOf(made.open(mintApiKey(randomBytes).key)), 'invalid_api_key');
    let size = 0;
    const sameId = mintApiKey((bytes) => {
      size += 1;
      return size === 1 ? bytesOf(seeded.publicId, bytes) : randomBytes(bytes);
    });
    assert.equal(sameId.publicId, seeded.publicId);
    assert.equal(await codeOf(made.open(sameId.key)), 'invalid_api_key');
    assert.equal(await codeOf(made.open(seeded.key)), 'opened');
    assert.equal(await codeOf(made.open(sameId.key)), 'invalid_api_key');
  });

  it('open under any pepper of the deployment, and under no other', async () => {
    const seeded = await seedKey(migrated.db, owner);
    const [newer, foreign] = [createSecretKey(randomBytes(32)), createSecretKey(randomBytes(32))];
    const codeWith = async (peppers: KeyObject[]) => codeOf((await gateway(100, peppers)).open(seeded.key));
    assert.equal(await codeWith([newer, pepper]), 'opened');
    assert.equal(await codeWith([newer, foreign]), 'invalid_api_key');
    assert.equal(await codeWith([]), 'invalid_api_key');
  });

  it('of other members are invalid where only one user has keys', async () => {
    const seeded = await seedKey(migrated.db, owner);
    const codeWith = async (userId: string) =>
      codeOf((await gateway(100, [pepper], userId)).open(seeded.key));
    assert.equal(await codeWith(owner.userId), 'opened');
    assert.equal(await codeWith(randomUUIDv7()), 'invalid_api_key');
  });

  it('end by the clock, whether in memory or not', async () => {
    const seeded = await seedKey(migrated.db, owner, { expiresAt: new Date(Date.now() + 60_000) });
    const [warm, cold] = [await gateway(), await gateway()];
    assert.equal(await codeOf(warm.open(seeded.key)), 'opened');
    nowMs = () => Date.now() + 60_001;
    assert.equal(await codeOf(warm.open(seeded.key)), 'expired_api_key');
    assert.equal(await codeOf(cold.open(seeded.key)), 'expired_api_key');
  });

  it('work immediately on every gateway after their creation, even when their owner has just joined', async () => {
    const warm = await gateway();
    const first = await seedKey(migrated.db, owner);
    assert.equal(await codeOf(warm.open(first.key)), 'opened');
    const userId = await seedMember(migrated.db, owner.organizationId);
    const seeded = await seedKey(migrated.db, { ...owner, userId });
    assert.equal(await codeOf(warm.open(seeded.key)), 'opened');
  });

  it('revoked are refused by the very next request on every gateway, while sibling keys keep working', async () => {
    const [gone, sibling] = [await seedKey(migrated.db, owner), await seedKey(migrated.db, owner)];
    const all = [await gateway(), await gateway(), await gateway()];
    for (const { open } of all) {
      assert.equal(await codeOf(open(gone.key)), 'opened');
      assert.equal(await codeOf(open(sibling.key)), 'opened');
    }
    const version = await revokeKey(migrated.db, owner.organizationId, gone.id);
    await fences.raise(owner.organizationId, version);
    for (const { open } of all) {
      assert.equal(await codeOf(open(gone.key)), 'revoked_api_key');
      assert.equal(await codeOf(open(sibling.key)), 'opened');
    }
  });

  it('are never accepted after their revocation was confirmed, however many requests are in flight', async () => {
    const all = [await gateway(), await gateway()];
    for (let round = 0; round < 10; round += 1) {
      const seeded = await seedKey(migrated.db, owner);
      let confirmed = false;
      let late = 0;
      let ended = false;
      const clients = all.flatMap(({ open }) =>
        Array.from({ length: 8 }, async () => {
          while (!ended) {
            const sentAfter = confirmed;
            if ((await codeOf(open(seeded.key))) === 'opened' && sentAfter) late += 1;
            await new Promise(setImmediate);
          }
        }),
      );
      await new Promise((resolve) => setTimeout(resolve, 10));
      const version = await revokeKey(migrated.db, owner.organizationId, seeded.id);
      await fences.raise(owner.organizationId, version);
      confirmed = true;
      await new Promise((resolve) => setTimeout(resolve, 20));
      ended = true;
      await Promise.all(clients);
      assert.equal(late, 0, `round ${round}`);
    }
  });

  it('lose what their owner loses on the next request: demoted, suspended, removed', async () => {
    const userId = await seedMember(migrated.db, owner.organizationId, 'admin');
    const scopes = ['relay:request', 'relay:providers:manage'] as const;
    const seeded = await seedKey(migrated.db, { ...owner, userId }, { scopes });
    const all = [await gateway(), await gateway()];
    const everywhere = (ask: (open: OpenWithKey) => Promise<unknown>) =>
      Promise.all(all.map(({ open }) => ask(open)));
    const held = async (open: OpenWithKey) => [...(await open(seeded.key)).scopes].toSorted();
    assert.deepEqual(await everywhere(held), Array(2).fill([...scopes].toSorted()));
    const changeMember = (set: { role: 'viewer' } | { status: 'suspended' }) =>
      takeAway(async (tx) => {
        await tx.updateTable('organization_members').set(set).where('user_id', '=', userId).execute();
        return { result: undefined, keyIds: [] };
      });
    await changeMember({ role: 'viewer' });
    assert.deepEqual(await everywhere(held), [[], []]);
    await changeMember({ status: 'suspended' });
    const code = (open: OpenWithKey) => codeOf(open(seeded.key));
    assert.deepEqual(await everywhere(code), Array(2).fill('permission_denied'));
    await takeAway(async (tx) => {
      await tx.deleteFrom('organization_members').where('user_id', '=', userId).execute();
      return { result: undefined, keyIds: [] };
    });
    assert.deepEqual(await everywhere(code), Array(2).fill('invalid_api_key'));
  });

  it('of a deleted organization are invalid', async () => {
    const seeded = await seedKey(migrated.db, owner);
    const made = await gateway();
    made.snapshots.start();
    const deaf = await gateway();
    assert.equal(await codeOf(made.open(seeded.key)), 'opened');
    assert.equal(await codeOf(deaf.open(seeded.key)), 'opened');
    await migrated.db.deleteFrom('organizations').where('id', '=', owner.organizationId).execute();
    while (made.snapshots.get(owner.organizationId) !== undefined)
      await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(await codeOf(made.open(seeded.key)), 'invalid_api_key');
    await fences.raise(owner.organizationId, 1_000_000_000);
    assert.equal(await codeOf(deaf.open(seeded.key)), 'invalid_api_key');
  });

  it('cost no query while nothing changes', async () => {
    const seeded = await seedKey(migrated.db, owner);
    const made = await gateway();
    await made.open(seeded.key);
    made.queries = 0;
    for (let round = 0; round < 1_000; round += 1) await made.open(seeded.key);
    assert.equal(made.queries, 0);
  });

  it('that are held work while PostgreSQL is unavailable; others are 503, never 401', async () => {
    const [known, unknown] = [await seedKey(migrated.db, owner), await seedKey(migrated.db, owner)];
    const { open } = await gateway();
    await open(known.key);
    await postgres.refuse();
    assert.equal(await codeOf(open(known.key)), 'opened');
    assert.equal(await codeOf(open(unknown.key)), 'store_unavailable');
    const version = await revokeKey(migrated.db, owner.organizationId, unknown.id);
    await fences.raise(owner.organizationId, version);
    assert.equal(await codeOf(open(known.key)), 'store_unavailable');
    await postgres.heal();
    assert.equal(await codeOf(open(known.key)), 'opened');
    assert.equal(await codeOf(open(unknown.key)), 'revoked_api_key');
  });

  it('that are revoked while Redis is frozen do not open, because PostgreSQL is asked instead', async () => {
    const [gone, sibling] = [await seedKey(migrated.db, owner), await seedKey(migrated.db, owner)];
    const { open } = await gateway();
    await open(gone.key);
    await open(sibling.key);
    server.pause();
    try {
      const version = await revokeKey(migrated.db, owner.organizationId, gone.id);
      await assert.rejects(fences.raise(owner.organizationId, version));
      assert.equal(await codeOf(open(gone.key)), 'revoked_api_key');
      assert.equal(await codeOf(open(sibling.key)), 'opened');
    } finally {
      server.resume();
    }
    await redis.whenReady(60_000);
  });

  it('work after a backup was restored, and the fence above it is removed', async () => {
    const seeded = await seedKey(migrated.db, owner);
    const made = await gateway();
    await made.open(seeded.key);
    await fences.raise(owner.organizationId, 1_000_000_000);
    assert.equal(await codeOf(made.open(seeded.key)), 'opened');
    assert.ok((await fences.read(owner.organizationId)) < 1_000_000_000);
    made.queries = 0;
    assert.equal(await codeOf(made.open(seeded.key)), 'opened');
    assert.equal(made.queries, 0);
  });

  it('work in turn when there is room for a single one of them', async () => {
    const [one, two] = [await seedKey(migrated.db, owner), await seedKey(migrated.db, owner)];
    const { open } = await gateway(1);
    for (const { key } of [one, two, one, two]) assert.equal(await codeOf(open(key)), 'opened');
  });

  it('leave word of their use', async () => {
    const seeded = await seedKey(migrated.db, owner);
    const made = await gateway();
    await made.open(seeded.key);
    await made.uses.flush();
    const row = await migrated.db
      .selectFrom('api_keys')
      .select('last_used_at')
      .where('id', '=', seeded.id)
      .executeTakeFirstOrThrow();
    assert.ok(row.last_used_at !== null && Math.abs(row.last_used_at.getTime() - Date.now()) < 10_000);
  });
});

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The bytes of a public id. */
function bytesOf(publicId: string, size: number): Buffer {
  const value = [...publicId].reduce((sum, digit) => sum * 62n + BigInt(DIGITS.indexOf(digit)), 0n);
  return Buffer.from(value.toString(16).padStart(size * 2, '0'), 'hex');
}
