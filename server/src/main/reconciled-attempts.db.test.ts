import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { windowStartMs } from '../admission/calendar-window.ts';
import type { Actual, AdmissionEngine } from '../admission/engine.ts';
import type { AppliedLimit } from '../domain/limits/limit.ts';
import type { RecordedAttempt } from '../domain/request-record.ts';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { createIdleShards } from '../metering/compare-windows.ts';
import { startReconciliation } from '../metering/reconcile.ts';
import { readCalendarPolicies } from '../store/configuration/calendar-policies.ts';
import { seedOrganization } from '../store/fixtures/migrated-database.fixture.ts';
import type { Redis } from '../store/redis/redis.ts';
import { idAt, type ReconciledStores, requestsAt, startReconciledStores } from './reconciliation.fixture.ts';

const DAY_MS = 86_400_000;
// Noon, so that no window starts or ends during a test.
const NOW_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2;
const NIL = '00000000-0000-0000-0000-000000000000';

describe('limits compared with a ledger whose requests fell back', () => {
  let stores: ReconciledStores;
  let db: ReconciledStores['db'];
  let redis: Redis;
  let engine: AdmissionEngine;
  let seeded: Awaited<ReturnType<typeof seedOrganization>>;
  /** Requests, tokens and spend of the lane, then requests of the endpoint, each for a day. */
  let limits: AppliedLimit[];

  before(async () => {
    stores = await startReconciledStores(NOW_MS - DAY_MS, NOW_MS);
    ({ db, redis, engine } = stores);
  });
  after(() => stores.close());

  beforeEach(async () => {
    await db.deleteFrom('organizations').execute();
    seeded = await seedOrganization(db);
    const { organizationId: organization_id, laneId, endpointId } = seeded;
    const ofDay = { organization_id, period: 'day', limit_value: 1_000 } as const;
    const ofLane = { ...ofDay, scope_type: 'lane', scope_id: laneId } as const;
    const ofEndpoint = { ...ofDay, scope_type: 'endpoint', scope_id: endpointId } as const;
    await db
      .insertInto('limit_policies')
      .values([
        { ...ofLane, id: idAt(1), metric: 'requests' },
        { ...ofLane, id: idAt(2), metric: 'tokens' },
        { ...ofLane, id: idAt(3), metric: 'spend' },
        { ...ofEndpoint, id: idAt(4), metric: 'requests' },
      ])
      .execute();
    const owned = await readCalendarPolicies(db, { organizationId: NIL, policyId: NIL }, 100);
    limits = owned.map(({ limit }) => limit);
    assert.equal(limits.length, 4);
  });

  const { admit, settle, moveToLedger, loseStream } = requestsAt(NOW_MS, () => ({
    db,
    redis,
    engine,
    seeded,
    limits,
  }));

  function attempt(over: Partial<RecordedAttempt> = {}): RecordedAttempt {
    const { endpointId, providerId } = seeded;
    const there = { endpointId, providerId, upstreamModel: 'model-1' };
    return { ...there, status: null, outcome: 'failed', cause: null, latencyMs: 1, ...over };
  }

  async function serve(laneId = seeded.laneId): Promise<void> {
    const id = idAt(NOW_MS);
    await admit(id);
    await settle(id, { laneId, attempts: [attempt({ status: 200, outcome: 'completed' })] });
  }

  /** A request whose first attempt failed. `charged`: what its record says of that. */
  async function fallBack(used: Actual, charged: RecordedAttempt['charged'], laneId = seeded.laneId) {
    const id = idAt(NOW_MS);
    await admit(id);
    await admit(id, used);
    const first = attempt(charged === undefined ? {} : { charged });
    await settle(id, { laneId, attempts: [first, attempt({ status: 200, outcome: 'completed' })] });
  }

  /** A request that windows count and no row will ever tell of. */
  async function countOneTooMany(): Promise<void> {
    await moveToLedger();
    await serve();
    await loseStream();
  }

  async function counted(): Promise<number[]> {
    return (await engine.usage(seeded.organizationId, limits)).map(({ used }) => used);
  }

  /** How many were corrected. */
  async function reconcile(): Promise<number> {
    const reconciliation = startReconciliation({
      db,
      isIdle: createIdleShards(redis),
      usage: engine.usage,
      recount: engine.recount,
      windowStartMs,
      clock: { ...systemClock, nowMs: () => NOW_MS },
      log: createLog('silent'),
    });
    assert.equal(await reconciliation.runOnce(), true);
    await reconciliation.stop();
    return reconciliation.state().corrected;
  }

  it('may count attempts that failed, of which the ledger knows the request alone', async () => {
    await serve();
    const refused = idAt(NOW_MS);
    await admit(refused);
    const failed = { usageSource: 'none', state: 'failed', status: 500, laneId: seeded.laneId } as const;
    const attempts = [attempt({ status: 500 })];
    await settle(refused, { ...failed, attempts }, { dispatched: true, tokens: 0, spendMicros: 0 });
    const charged = { tokens: 4, spendMicros: 2 };
    await fallBack({ dispatched: true, ...charged }, charged);
    await moveToLedger();
    assert.deepEqual(await counted(), [4, 14, 12, 4]);
    assert.equal(await reconcile(), 0);
  });

  it('are corrected to what the ledger and these attempts hold, and not below', async () => {
    const charged = { tokens: 4, spendMicros: 2 };
    await fallBack({ dispatched: true, ...charged }, charged);
    await countOneTooMany();
    assert.deepEqual(await counted(), [3, 14, 12, 3]);
    assert.equal(await reconcile(), 4);
    assert.deepEqual(await counted(), [2, 9, 7, 2]);
    assert.equal(await reconcile(), 0);
  });

  it('keep tokens and spend where the record of an attempt does not tell what it was charged', async () => {
    await fallBack({ dispatched: true, tokens: 4, spendMicros: 2 }, undefined);
    await countOneTooMany();
    assert.equal(await reconcile(), 2);
    assert.deepEqual(await counted(), [2, 14, 12, 2]);
  });

  it('are corrected in one lane although requests of another fell back, or never were sent', async () => {
    limits = limits.slice(0, 3);
    await serve();
    await countOneTooMany();
    const ofLane = limits;
    limits = [];
    await fallBack({ dispatched: true, tokens: 4, spendMicros: 2 }, undefined, randomUUIDv7());
    const left = { usageSource: 'none', state: 'cancelled', attempts: [] } as const;
    await settle(idAt(NOW_MS), { ...left, laneId: seeded.laneId });
    await moveToLedger();
    limits = ofLane;
    assert.deepEqual(await counted(), [2, 10, 10]);
    assert.equal(await reconcile(), 3);
    assert.deepEqual(await counted(), [1, 5, 5]);
  });

  it('count an attempt that failed at the endpoint that it was sent to', async () => {
    const elsewhere = randomUUIDv7();
    const id = idAt(NOW_MS);
    await admit(id);
    const charged = { tokens: 0, spendMicros: 0 };
    const fallen = { laneId: seeded.laneId, endpointId: elsewhere };
    const last = attempt({ endpointId: elsewhere, status: 200, outcome: 'completed' });
    // The last attempt is charged to the lane alone.
    const ofBoth = limits;
    limits = limits.slice(0, 3);
    await admit(id, { dispatched: true, ...charged });
    await settle(id, { ...fallen, attempts: [attempt({ charged }), last] });
    await moveToLedger();
    limits = ofBoth;
    assert.deepEqual(await counted(), [2, 5, 5, 1]);
    assert.equal(await reconcile(), 0);
  });
});
