import assert from 'node:assert/strict';
import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type PrivateRedis, startRedis } from '@relay/testbed';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import { systemClock } from '../../kit/clock.ts';
import { createLog } from '../../kit/log.ts';
import { createSealer } from '../../kit/seal.ts';
import { changeAccess } from '../../store/configuration/config-version.ts';
import { createSnapshots, type Snapshots } from '../../store/configuration/snapshots.ts';
import {
  type MigratedDatabase,
  migratedDatabase,
  seedOrganization,
  silentLog,
} from '../../store/fixtures/migrated-database.fixture.ts';
import { createFences, type Fences } from '../../store/keys/fences.ts';
import { rememberFences } from '../../store/keys/known-fences.ts';
import { createRedis, type Redis } from '../../store/redis/redis.ts';
import { createNewestSnapshot, type NewestSnapshot } from './newest-snapshot.ts';

describe('what a dispatch is decided on', () => {
  let migrated: MigratedDatabase;
  let server: PrivateRedis;
  let redis: Redis;
  /** The snapshots of another gateway. */
  let elsewhere: Fences;
  let snapshots: Snapshots;
  let newest: NewestSnapshot;
  let nowMs: number;
  let reads: number;
  let snapshot: OrganizationSnapshot;

  before(async () => {
    migrated = await migratedDatabase();
    server = await startRedis();
    redis = createRedis({ url: server.url, clock: systemClock, log: silentLog, commandTimeoutMs: 10_000 });
    await redis.whenReady(60_000);
    elsewhere = createFences({ redis, db: migrated.db });
  });
  beforeEach(async () => {
    const { organizationId } = await seedOrganization(migrated.db);
    const sealer = createSealer({ primary: randomBytes(32) });
    // Never started, so only the fence reports changes.
    snapshots = createSnapshots({ database: migrated.database, sealer, clock: systemClock, log: silentLog });
    snapshot = await snapshots.load(organizationId);
    nowMs = 0;
    reads = 0;
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
    const fences = createFences({ redis, db: migrated.db });
    const counted: Fences = {
      ...fences,
      read(id) {
        reads += 1;
        return fences.read(id);
      },
    };
    newest = createNewestSnapshot({
      fences: rememberFences(counted, clock),
      snapshots,
      clock,
      log: createLog('silent'),
    });
  });
  after(async () => {
    await redis.close();
    await server.remove();
    await migrated.drop();
  });

  /** As management enables a guardrail: commit, raise the fence, respond. */
  async function enableGuardrail(): Promise<void> {
    const { organizationId } = snapshot;
    const { version } = await changeAccess(migrated.db, organizationId, async (tx) => {
      const owner = { organization_id: organizationId };
      const id = randomUUIDv7();
      const address = { preset_slug: 'custom-http', base_url: 'https://judge.example/' };
      await tx
        .insertInto('guardrails')
        .values({ ...owner, id, name: 'G', slug: 'g', ...address, pre_dispatch_enabled: true, enabled: true })
        .execute();
      await tx
        .insertInto('guardrail_bindings')
        .values({ ...owner, id: randomUUIDv7(), guardrail_id: id, target_type: 'global' })
        .execute();
      return { result: undefined, keyIds: [] };
    });
    await elsewhere.raise(organizationId, version);
  }

  it('is what is known while that was found to be the newest at most 200 ms ago, without a read', async () => {
    assert.equal(await newest.of(snapshot), snapshot);
    assert.equal(reads, 1);
    nowMs = 200;
    assert.equal(newest.of(snapshot), snapshot);
    assert.equal(reads, 1);
  });

  it('has every guardrail that was confirmed more than 200 ms ago, although this process got no notification', async () => {
    await newest.of(snapshot);
    await enableGuardrail();
    nowMs = 201;
    const found = await newest.of(snapshot);
    assert.equal(found.guardrails.length, 1);
    assert.ok(found.version > snapshot.version);
    nowMs = 300;
    assert.equal(newest.of(found), found);
  });

  it('is read ahead, and once for all who come meanwhile', async () => {
    newest.prepare(snapshot.organizationId);
    newest.prepare(snapshot.organizationId);
    const found = await Promise.all(Array.from({ length: 50 }, () => newest.of(snapshot)));
    assert.ok(found.every((each) => each === snapshot));
    assert.equal(reads, 1);
    nowMs = 101;
    newest.prepare(snapshot.organizationId);
    assert.equal(newest.of(snapshot), snapshot);
    assert.equal(reads, 2);
  });

  it('is refused when something newer is known of and cannot be read', async () => {
    await enableGuardrail();
    const away: Pick<Snapshots, 'get' | 'atLeast'> = {
      get: snapshots.get,
      atLeast: () => Promise.reject(new Error('away')),
    };
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
    const fences = rememberFences(elsewhere, clock);
    const cutOff = createNewestSnapshot({ fences, snapshots: away, clock, log: createLog('silent') });
    await assert.rejects(async () => cutOff.of(snapshot), /away/);
    nowMs = 100;
    await assert.rejects(async () => cutOff.of(snapshot), /away/);
  });

  it('is what is known while neither store answers, and that is not found out by every request', async () => {
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
    let asked = 0;
    const silent: Fences = {
      ...elsewhere,
      read() {
        asked += 1;
        return Promise.reject(new Error('away'));
      },
    };
    const cutOff = createNewestSnapshot({
      fences: rememberFences(silent, clock),
      snapshots,
      clock,
      log: createLog('silent'),
    });
    assert.equal(await cutOff.of(snapshot), snapshot);
    nowMs = 999;
    cutOff.prepare(snapshot.organizationId);
    assert.equal(cutOff.of(snapshot), snapshot);
    assert.equal(asked, 1);
    nowMs = 1_000;
    assert.equal(await cutOff.of(snapshot), snapshot);
    assert.equal(asked, 2);
  });
});
