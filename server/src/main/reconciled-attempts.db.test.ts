import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createRandom, testSeed } from '@relay/testbed/random';
import { windowStartMs } from '../admission/calendar-window.ts';
import type { Actual, AdmissionEngine } from '../admission/engine.ts';
import { sumOfAttempts, type UsedSums } from '../domain/attempt-sums.ts';
import type { AppliedLimit } from '../domain/limits/limit.ts';
import type { AttemptUse, RecordedAttempt, RequestRecord } from '../domain/request-record.ts';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { createIdleShards } from '../metering/compare-windows.ts';
import { startReconciliation } from '../metering/reconcile.ts';
import { readCalendarPolicies } from '../store/configuration/calendar-policies.ts';
import { seedOrganization } from '../store/fixtures/migrated-database.fixture.ts';
import type { Redis } from '../store/redis/redis.ts';
import { idAt, type ReconciledStores, requestsAt, startReconciledStores } from './reconciliation.fixture.ts';
import { calendarOpenings } from './window-openings.ts';

const DAY_MS = 86_400_000;
// Noon, so that no window starts or ends during a test.
const NOW_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2;
const NIL = '00000000-0000-0000-0000-000000000000';

describe('the ledger of a limit whose requests fell back', () => {
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

  function used(tokens: number, spendMicros: number): { use: AttemptUse } {
    const usage = { inputTokens: tokens, outputTokens: 0, cachedInputTokens: 0 };
    return { use: { source: 'reported', usage, costMicros: spendMicros } };
  }

  /** What every last attempt uses. */
  const answered = () => attempt({ status: 200, outcome: 'completed', ...used(5, 5) });

  /** A request whose first attempt failed after it used 4 tokens for 2 µ$. */
  async function fallBack(laneId = seeded.laneId) {
    const id = idAt(NOW_MS);
    await admit(id);
    await admit(id, { dispatched: true, tokens: 4, spendMicros: 2 });
    await settle(id, { laneId, ...recordOf([attempt(used(4, 2)), answered()]) });
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

  /** What the windows would be opened with. */
  async function inLedger(): Promise<number[]> {
    const clock = { ...systemClock, nowMs: () => NOW_MS };
    const openings = await calendarOpenings({ db, clock }, seeded.organizationId, limits);
    return openings.map(({ amount }) => amount);
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

  it('counts every attempt that was sent, with what it used', async () => {
    await serve();
    const refused = idAt(NOW_MS);
    await admit(refused);
    const failed = { state: 'failed', status: 500, laneId: seeded.laneId } as const;
    const nothing = { dispatched: true, tokens: 0, spendMicros: 0 };
    await settle(refused, { ...failed, ...recordOf([attempt({ status: 500 })]) }, nothing);
    await fallBack();
    await moveToLedger();
    assert.deepEqual(await counted(), [4, 14, 12, 4]);
    assert.deepEqual(await inLedger(), [4, 14, 12, 4]);
    assert.equal(await reconcile(), 0);
  });

  it('corrects exactly to what these attempts used', async () => {
    await fallBack();
    await countOneTooMany();
    assert.deepEqual(await counted(), [3, 14, 12, 3]);
    assert.equal(await reconcile(), 4);
    assert.deepEqual(await counted(), [2, 9, 7, 2]);
    assert.equal(await reconcile(), 0);
  });

  it('knows of attempts in records of earlier versions, but not what they used', async () => {
    const id = idAt(NOW_MS);
    await admit(id);
    await admit(id, { dispatched: true, tokens: 4, spendMicros: 2 });
    await settle(id, { laneId: seeded.laneId, attempts: [attempt(), attempt({ status: 200 })] });
    await moveToLedger();
    assert.deepEqual(await counted(), [2, 9, 7, 2]);
    assert.equal(await reconcile(), 2);
    assert.deepEqual(await counted(), [2, 5, 5, 2]);
  });

  it('corrects one lane although requests of another fell back, or never were sent', async () => {
    limits = limits.slice(0, 3);
    await serve();
    await countOneTooMany();
    const ofLane = limits;
    limits = [];
    await fallBack(randomUUIDv7());
    const left = { usageSource: 'none', state: 'cancelled', attempts: [] } as const;
    await settle(idAt(NOW_MS), { ...left, laneId: seeded.laneId });
    await moveToLedger();
    limits = ofLane;
    assert.deepEqual(await counted(), [2, 10, 10]);
    assert.equal(await reconcile(), 3);
    assert.deepEqual(await counted(), [1, 5, 5]);
  });

  it('counts an attempt at the endpoint that it was sent to', async () => {
    const elsewhere = randomUUIDv7();
    const id = idAt(NOW_MS);
    await admit(id);
    const fallen = { laneId: seeded.laneId, endpointId: elsewhere };
    // The last attempt is charged to the lane alone.
    const ofBoth = limits;
    limits = limits.slice(0, 3);
    await admit(id, { dispatched: true, tokens: 4, spendMicros: 2 });
    const last = { ...answered(), endpointId: elsewhere };
    await settle(id, { ...fallen, ...recordOf([attempt(used(4, 2)), last]) });
    await moveToLedger();
    limits = ofBoth;
    assert.deepEqual(await counted(), [2, 9, 7, 1]);
    assert.equal(await reconcile(), 0);
  });

  it('is what a lost window is opened with, whatever became of the attempts', async () => {
    const random = createRandom(testSeed());
    for (let request = 0; request < 25; request += 1) {
      const id = idAt(NOW_MS);
      const attempts: RecordedAttempt[] = [];
      let release: Actual | undefined;
      const count = 1 + Math.floor(random.next() * 3);
      for (let place = 0; place < count; place += 1) {
        await admit(id, release);
        const [sent, uses] = [random.next() < 0.8, random.next() < 0.6];
        const [tokens, spendMicros] = sent && uses ? [Math.floor(random.next() * 30), place + 1] : [0, 0];
        attempts.push(attempt({ sent, ...(sent && uses && used(tokens, spendMicros)) }));
        release = { dispatched: sent, tokens, spendMicros };
      }
      await settle(id, { laneId: seeded.laneId, ...recordOf(attempts) }, release);
    }
    await moveToLedger();
    assert.deepEqual(await inLedger(), await counted());
    assert.equal(await reconcile(), 0);
  });
});

/** What a gateway writes of these attempts. */
function recordOf(attempts: readonly RecordedAttempt[]): Pick<RequestRecord, 'attempts'> & UsedSums {
  return { attempts, ...sumOfAttempts(attempts) };
}
