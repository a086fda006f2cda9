/* oxlint-disable max-lines -- one set of snapshots and its two stores, watched from every side */
import assert from 'node:assert/strict';
import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { after, afterEach, before, describe, it } from 'node:test';
import { type PrivatePostgres, startPostgres, startTcpProxy, type TcpProxy } from '@relay/testbed';
import { sql } from 'kysely';
import { RelayError } from '../../domain/relay-error.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import { systemClock } from '../../kit/clock.ts';
import { createSealer } from '../../kit/seal.ts';
import { seedOrganization, silentLog } from '../fixtures/migrated-database.fixture.ts';
import { createDatabase, type DatabaseHandle } from '../postgres/postgres.ts';
import { changeConfiguration, readConfigClock } from './config-version.ts';
import { secretBinding } from './secret-binding.ts';
import { createSnapshots, type Snapshots } from './snapshots.ts';

const sealer = createSealer({ primary: randomBytes(32) });

describe('snapshots', () => {
  let server: PrivatePostgres;
  let proxy: TcpProxy;
  /** Connects to the server directly, as an operator or another process does. */
  let outside: DatabaseHandle;
  let database: DatabaseHandle;
  let snapshots: Snapshots;

  before(async () => {
    server = await startPostgres({ migrated: true });
    proxy = await startTcpProxy({ target: server.url });
    outside = createDatabase({ url: server.url, log: silentLog });
    database = createDatabase({
      url: proxy.url,
      log: silentLog,
      connectTimeoutMs: 300,
      statementTimeoutMs: 1_000,
    });
  });
  afterEach(async () => {
    await snapshots.stop();
    await proxy.heal();
  });
  after(async () => {
    await Promise.all([outside.close(), database.close()]);
    await proxy.close();
    await server.remove();
  });

  function begin(options: { pollIntervalMs?: number; organizationsMax?: number } = {}): Snapshots {
    snapshots = createSnapshots({
      database,
      sealer,
      clock: systemClock,
      log: silentLog,
      pollIntervalMs: 50,
      ...options,
    });
    return snapshots;
  }

  function seed() {
    return seedOrganization(outside.db, {
      sealed: ({ organizationId, providerId }) => ({
        secret: sealer.seal(
          'sk-upstream',
          secretBinding({ organizationId, ownerId: providerId, secretVersion: 1 }),
        ),
        keyId: sealer.keyId,
      }),
    });
  }

  function rename(organizationId: string, name: string): Promise<unknown> {
    return changeConfiguration(outside.db, organizationId, (tx) =>
      tx.updateTable('lanes').set({ name }).where('organization_id', '=', organizationId).execute(),
    );
  }

  const laneName = (snapshot: OrganizationSnapshot | undefined) =>
    [...(snapshot?.lanes.values() ?? [])][0]?.name;

  /** Resolves when the organization's snapshot satisfies the condition. */
  function until(
    organizationId: string,
    holds: (snapshot: OrganizationSnapshot | undefined) => boolean,
  ): Promise<void> {
    return new Promise((resolve) => {
      const check = (changed: string, snapshot: OrganizationSnapshot | undefined) => {
        if (changed !== organizationId || !holds(snapshot)) return;
        stopWatching();
        resolve();
      };
      const stopWatching = snapshots.onChange(check);
      const now = snapshots.get(organizationId);
      if (now !== undefined) check(organizationId, now);
    });
  }

  it('tells whoever watches the process which version it has reached, once that is in force', async () => {
    const { organizationId } = await seed();
    await begin().load(organizationId);
    const told = Promise.withResolvers<string | undefined>();
    let wanted = Number.POSITIVE_INFINITY;
    const onTold = (message: unknown) => {
      if ((message as { version: number }).version < wanted) return;
      told.resolve(laneName(snapshots.get(organizationId)));
    };
    subscribe('relay:configuration', onTold);
    snapshots.start();
    await rename(organizationId, 'Renamed');
    wanted = await readConfigClock(outside.db);
    assert.equal(await told.promise, 'Renamed');
    unsubscribe('relay:configuration', onTold);
  });

  it('carries everything of the organization, with the credential opened', async () => {
    const ids = await seed();
    await outside.db
      .insertInto('pricing_policies')
      .values({
        organization_id: ids.organizationId,
        id: randomUUIDv7(),
        endpoint_id: ids.endpointId,
        input_cost_micros_per_1m_tokens: 150_000,
        output_cost_micros_per_1m_tokens: 600_000,
        source: 'manual',
      })
      .execute();
    begin();
    assert.equal(snapshots.get(ids.organizationId), undefined);
    const snapshot = await snapshots.load(ids.organizationId);
    assert.equal(snapshots.get(ids.organizationId), snapshot);
    assert.equal(snapshot.providers.get(ids.providerId)?.baseUrl, 'https://p.example/v1');
    assert.equal(snapshot.endpoints.get(ids.endpointId)?.credentialId, ids.credentialId);
    assert.equal(snapshot.lanes.get(ids.laneId)?.defaultMaxWaitMs, 30_000);
    assert.deepEqual(
      snapshot.memberships.map((membership) => membership.id),
      [ids.membershipId],
    );
    assert.equal(snapshot.credentials.get(ids.credentialId)?.secret?.reveal(), 'sk-upstream');
    assert.deepEqual(snapshot.pricing.get(ids.endpointId), {
      inputCostMicrosPer1mTokens: 150_000,
      outputCostMicrosPer1mTokens: 600_000,
      cachedInputCostMicrosPer1mTokens: null,
      flatRequestCostMicros: 0,
    });
  });

  it('carries the limit policies in force, in the order of their ids, and no others', async () => {
    const [ids, other] = await Promise.all([seed(), seed()]);
    const made = Array.from({ length: 6 }, () => randomUUIDv7()).reverse();
    const [first = '', second = '', third = '', disabled = '', foreign = '', fourth = ''] = made;
    const policy = { organization_id: ids.organizationId, metric: 'tokens', period: 'day' } as const;
    await outside.db
      .insertInto('limit_policies')
      .values([
        { ...policy, id: first, scope_type: 'global', limit_value: Number.MAX_SAFE_INTEGER },
        { ...policy, id: second, scope_type: 'lane', scope_id: ids.laneId, limit_value: 2 },
        { ...policy, id: third, scope_type: 'credential', scope_id: ids.credentialId, limit_value: 3 },
        {
          ...policy,
          id: fourth,
          scope_type: 'global',
          limit_value: 4,
          metric: 'concurrency',
          period: 'none',
        },
        { ...policy, id: disabled, scope_type: 'global', limit_value: 5, enabled: false },
        {
          ...policy,
          organization_id: other.organizationId,
          id: foreign,
          scope_type: 'global',
          limit_value: 6,
        },
      ])
      .execute();
    const { limitPolicies } = await begin().load(ids.organizationId);
    assert.deepEqual(
      limitPolicies.map(({ id }) => id),
      [first, second, third, fourth].sort(),
    );
    const byId = new Map(limitPolicies.map((each) => [each.id, each]));
    assert.equal(byId.get(first)?.limitValue, Number.MAX_SAFE_INTEGER);
    assert.deepEqual(byId.get(second), {
      id: second,
      scopeType: 'lane',
      scopeId: ids.laneId,
      metric: 'tokens',
      period: 'day',
      limitValue: 2,
      unpriced: 'refuse',
      enforcement: 'estimate',
      counter: 0,
      enabled: true,
    });
  });

  it('a sealed credential moved to another provider does not open, and the rest still loads', async () => {
    const ids = await seed();
    const other = randomUUIDv7();
    const owner = { organization_id: ids.organizationId };
    await outside.db
      .insertInto('providers')
      .values({
        ...owner,
        id: other,
        name: 'Q',
        slug: 'q',
        base_url: 'https://evil.example',
        auth_mode: 'bearer_static',
      })
      .execute();
    await outside.db
      .updateTable('endpoints')
      .set({ credential_id: null })
      .where('id', '=', ids.endpointId)
      .execute();
    await outside.db
      .updateTable('credentials')
      .set({ provider_id: other })
      .where('id', '=', ids.credentialId)
      .execute();
    const snapshot = await begin().load(ids.organizationId);
    assert.equal(snapshot.credentials.get(ids.credentialId)?.secret, null);
    assert.equal(snapshot.providers.size, 2);
  });

  it('concurrent callers share one read', async () => {
    const { organizationId } = await seed();
    begin();
    const loaded = await Promise.all(Array.from({ length: 50 }, () => snapshots.load(organizationId)));
    assert.equal(new Set(loaded).size, 1);
  });

  it('an unknown organization is not_found and is not kept', async () => {
    begin();
    const missing = snapshots.load(randomUUIDv7());
    await assert.rejects(missing, (error) => error instanceof RelayError && error.code === 'not_found');
    assert.equal(snapshots.state().loaded, 0);
  });

  it('a change made elsewhere arrives by the poll alone', async () => {
    const ids = await seed();
    begin({ pollIntervalMs: 30 });
    const deaf = createSnapshots({
      database: { db: database.db, listen: () => ({ connected: () => false, close: async () => undefined }) },
      sealer,
      clock: systemClock,
      log: silentLog,
      pollIntervalMs: 30,
    });
    snapshots = deaf;
    await deaf.load(ids.organizationId);
    deaf.start();
    await rename(ids.organizationId, 'polled');
    await until(ids.organizationId, (snapshot) => laneName(snapshot) === 'polled');
  });

  it('a change made elsewhere arrives by the notification long before the poll', async () => {
    const ids = await seed();
    begin({ pollIntervalMs: 600_000 });
    await snapshots.load(ids.organizationId);
    snapshots.start();
    await rename(ids.organizationId, 'hinted');
    await until(ids.organizationId, (snapshot) => laneName(snapshot) === 'hinted');
  });

  it('a write of this process is visible to it immediately, even during an older read', async () => {
    const ids = await seed();
    begin();
    await snapshots.load(ids.organizationId);
    for (let round = 0; round < 20; round += 1) {
      const older = snapshots.refreshNow(ids.organizationId);
      await rename(ids.organizationId, `round ${round}`);
      await snapshots.refreshNow(ids.organizationId);
      assert.equal(laneName(snapshots.get(ids.organizationId)), `round ${round}`);
      await older;
    }
  });

  it('asked for a version, it never answers an older one, however many ask while it changes', async () => {
    const ids = await seed();
    begin();
    const loaded = await snapshots.load(ids.organizationId);
    assert.equal(await snapshots.atLeast(ids.organizationId, loaded.version), loaded);
    for (let round = 0; round < 20; round += 1) {
      const older = snapshots.refreshNow(ids.organizationId);
      await rename(ids.organizationId, `asked ${round}`);
      const { config_version: version } = await outside.db
        .selectFrom('organizations')
        .select('config_version')
        .where('id', '=', ids.organizationId)
        .executeTakeFirstOrThrow();
      const asked = Array.from({ length: 20 }, () => snapshots.atLeast(ids.organizationId, version));
      for (const snapshot of await Promise.all(asked)) {
        assert.ok(snapshot.version >= version);
        assert.equal(laneName(snapshot), `asked ${round}`);
      }
      await older;
    }
  });

  it('asked for a version that PostgreSQL does not have, it answers what there is', async () => {
    const ids = await seed();
    const { version } = await begin().load(ids.organizationId);
    assert.equal((await snapshots.atLeast(ids.organizationId, version + 1_000)).version, version);
    const missing = snapshots.atLeast(randomUUIDv7(), 1);
    await assert.rejects(missing, (error) => error instanceof RelayError && error.code === 'not_found');
  });

  it('asked for a version while PostgreSQL is unavailable, it answers from memory or fails', async () => {
    const ids = await seed();
    const { version } = await begin().load(ids.organizationId);
    await proxy.refuse();
    assert.equal((await snapshots.atLeast(ids.organizationId, version)).version, version);
    await assert.rejects(
      snapshots.atLeast(ids.organizationId, version + 1),
      (error) => error instanceof RelayError && error.code === 'store_unavailable',
    );
  });

  it('the last good snapshot outlives PostgreSQL, and changes arrive by themselves after it is back', async () => {
    const ids = await seed();
    const unloaded = await seed();
    begin();
    await snapshots.load(ids.organizationId);
    snapshots.start();
    await server.kill();
    const refused = snapshots.load(unloaded.organizationId);
    await assert.rejects(
      refused,
      (error) => error instanceof RelayError && error.code === 'store_unavailable',
    );
    await snapshots.refreshNow(ids.organizationId);
    assert.equal(laneName(snapshots.get(ids.organizationId)), 'L');
    await server.start();
    await rename(ids.organizationId, 'after the restart');
    await until(ids.organizationId, (snapshot) => laneName(snapshot) === 'after the restart');
    assert.equal((await snapshots.load(unloaded.organizationId)).organizationId, unloaded.organizationId);
  });

  it('a network that swallows everything delays changes and loses none', async () => {
    const ids = await seed();
    begin();
    await snapshots.load(ids.organizationId);
    snapshots.start();
    proxy.stall();
    await rename(ids.organizationId, 'during the stall');
    assert.equal(laneName(snapshots.get(ids.organizationId)), 'L');
    await proxy.heal();
    await until(ids.organizationId, (snapshot) => laneName(snapshot) === 'during the stall');
  });

  it('a deleted organization is dropped', async () => {
    const ids = await seed();
    begin();
    await snapshots.load(ids.organizationId);
    snapshots.start();
    const dropped = until(ids.organizationId, (snapshot) => snapshot === undefined);
    await outside.db.deleteFrom('organizations').where('id', '=', ids.organizationId).execute();
    await dropped;
    assert.equal(snapshots.get(ids.organizationId), undefined);
  });

  it('a database restored from a backup is read again although its versions are smaller', async () => {
    const ids = await seed();
    await rename(ids.organizationId, 'newer');
    begin();
    await snapshots.load(ids.organizationId);
    snapshots.start();
    await outside.db.transaction().execute(async (tx) => {
      await tx.updateTable('config_clock').set({ version: 0 }).execute();
      await tx.updateTable('organizations').set({ config_version: 0 }).execute();
      await tx
        .updateTable('lanes')
        .set({ name: 'restored' })
        .where('organization_id', '=', ids.organizationId)
        .execute();
    });
    await until(ids.organizationId, (snapshot) => laneName(snapshot) === 'restored');
  });

  it('keeps at most as many organizations as it may, the recently used ones', async () => {
    const all = await Promise.all([seed(), seed(), seed()]);
    const [first, second, third] = all.map((ids) => ids.organizationId);
    assert.ok(first && second && third);
    begin({ organizationsMax: 2 });
    await snapshots.load(first);
    await snapshots.load(second);
    snapshots.get(first);
    await snapshots.load(third);
    assert.equal(snapshots.state().loaded, 2);
    assert.ok(snapshots.get(first));
    assert.equal(snapshots.get(second), undefined);
  });

  it('changes of organizations that are not loaded are not read', async () => {
    const [loaded, other] = await Promise.all([seed(), seed()]);
    begin();
    await snapshots.load(loaded.organizationId);
    snapshots.start();
    await rename(other.organizationId, 'elsewhere');
    await rename(loaded.organizationId, 'here');
    await until(loaded.organizationId, (snapshot) => laneName(snapshot) === 'here');
    assert.equal(snapshots.state().loaded, 1);
  });

  it('a snapshot is of one moment, however fast the organization changes', async () => {
    const ids = await seed();
    begin();
    await snapshots.load(ids.organizationId);
    let writing = true;
    const writer = async () => {
      for (let round = 0; writing; round += 1) {
        await changeConfiguration(outside.db, ids.organizationId, async (tx) => {
          await sql`update providers set name = ${`v${round}`} where organization_id = ${ids.organizationId}`.execute(
            tx,
          );
          await sql`update lanes set name = ${`v${round}`} where organization_id = ${ids.organizationId}`.execute(
            tx,
          );
        });
      }
    };
    const writers = writer();
    for (let round = 0; round < 40; round += 1) {
      await snapshots.refreshNow(ids.organizationId);
      const snapshot = snapshots.get(ids.organizationId);
      const provider = snapshot?.providers.get(ids.providerId)?.name;
      if (provider !== 'P') assert.equal(provider, laneName(snapshot));
    }
    writing = false;
    await writers;
  });
});
