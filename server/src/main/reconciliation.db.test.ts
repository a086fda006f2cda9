import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { sql } from 'kysely';
import { NOBODY } from '../admission/ask.fixture.ts';
import { windowStartMs } from '../admission/calendar-window.ts';
import type { AdmissionEngine } from '../admission/engine.ts';
import { createRedisEngine } from '../admission/redis/engine.ts';
import { createScripts } from '../admission/redis/scripts.ts';
import type { ExpiredDraft } from '../domain/expired-draft.ts';
import type { AppliedLimit } from '../domain/limits/limit.ts';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { nothingAside } from '../kit/set-aside.fixture.ts';
import { createIdleShards, createUntilWritten } from '../metering/compare-windows.ts';
import { ledgerRow } from '../metering/ledger-row.ts';
import { type Reconciliation, startReconciliation } from '../metering/reconcile.ts';
import { sampleRecord } from '../metering/request-records.fixture.ts';
import { type OwnedLimit, readCalendarPolicies } from '../store/configuration/calendar-policies.ts';
import { seedOrganization } from '../store/fixtures/migrated-database.fixture.ts';
import { appendRequests } from '../store/ledger/append-requests.ts';
import type { Redis } from '../store/redis/redis.ts';
import {
  addPolicies,
  idAt,
  type ReconciledStores,
  requestsAt,
  startReconciledStores,
} from './reconciliation.fixture.ts';
import { calendarOpenings } from './window-openings.ts';

const HOUR_MS = 3_600_000;
// The middle of an hour, so that no window starts or ends during a test.
const NOW_MS = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + HOUR_MS / 2;
const HOUR_START_MS = windowStartMs('hour', NOW_MS);
const NIL = '00000000-0000-0000-0000-000000000000';

describe('limits compared with the ledger', () => {
  let stores: ReconciledStores;
  let db: ReconciledStores['db'];
  let redis: Redis;
  let engine: AdmissionEngine;
  let seeded: Awaited<ReturnType<typeof seedOrganization>>;
  let limits: AppliedLimit[];
  let reconciliation: Reconciliation;
  let warnings: Record<string, unknown>[];
  let correctedBefore: number;

  before(async () => {
    stores = await startReconciledStores(NOW_MS - HOUR_MS, NOW_MS);
    ({ db, redis, engine } = stores);
  });
  after(() => stores.close());

  beforeEach(async () => {
    seeded = await seedOrganization(db);
    await addPolicies(db, seeded);
    const owned = await readCalendarPolicies(db, { organizationId: NIL, policyId: NIL }, 100);
    limits = owned.map(({ limit }: OwnedLimit) => limit);
    assert.equal(limits.length, 4);
    warnings = [];
    correctedBefore = 0;
    reconciliation = reconcile();
  });
  afterEach(async () => {
    await reconciliation.stop();
    await redis.run(['FLUSHALL']);
    await db.deleteFrom('organizations').execute();
    await db.deleteFrom('requests').execute();
    await db.deleteFrom('request_rollups').execute();
  });

  function reconcile(
    over: { policiesPerRun?: number; recount?: AdmissionEngine['recount'] } = {},
  ): Reconciliation {
    const log = {
      ...createLog('silent'),
      warn: (fields: Record<string, unknown>) => void warnings.push(fields),
    } as unknown as ReturnType<typeof createLog>;
    return startReconciliation({
      db,
      isIdle: createIdleShards(redis),
      usage: engine.usage,
      recount: engine.recount,
      inFlight: engine.inFlight,
      untilWritten: createUntilWritten(redis),
      windowStartMs,
      clock: { ...systemClock, nowMs: () => NOW_MS },
      log,
      ...over,
    });
  }

  const { askFor, admit, open, settle, serveRequests, moveToLedger, loseStream } = requestsAt(NOW_MS, () => ({
    db,
    redis,
    engine,
    seeded,
    limits,
  }));

  async function compared() {
    assert.equal(await reconciliation.runOnce(), true);
    const { checked, unsettled, drift, corrected } = reconciliation.state();
    const newlyCorrected = corrected - correctedBefore;
    correctedBefore = corrected;
    return { checked, unsettled, drift, ...(newlyCorrected > 0 && { corrected: newlyCorrected }) };
  }

  it('agree after a run of requests that are settled and written', async () => {
    assert.equal(reconciliation.state().finishedAtMs, null);
    await serveRequests(20);
    await moveToLedger();
    const used = await engine.usage(seeded.organizationId, limits);
    assert.deepEqual(
      used.map((each) => each.used),
      [20, 100, 100, 20],
    );
    assert.deepEqual(await compared(), { checked: 4, unsettled: 0, drift: 0 });
    assert.equal(reconciliation.state().finishedAtMs, NOW_MS);
    assert.deepEqual(warnings, []);
  });

  it('that have counted a request which never reached the ledger are found, each by its id', async () => {
    await serveRequests(4);
    await moveToLedger();
    await serveRequests(1);
    await loseStream();
    assert.deepEqual(await compared(), { checked: 4, unsettled: 0, drift: 0, corrected: 4 });
    assert.equal(reconciliation.state().driftRatioMax, 0);
    assert.deepEqual(
      warnings.map(({ policy_id, counted, ledger }) => [policy_id, counted, ledger]),
      limits.map(({ id, metric }) => [id, ...(metric === 'requests' ? [5, 4] : [25, 20])]),
    );
    assert.equal(warnings[0]?.['organization_id'], seeded.organizationId);
    assert.deepEqual(await counted(), [4, 20, 20, 4], 'they are corrected');
    assert.deepEqual(await compared(), { checked: 4, unsettled: 0, drift: 0 });
  });

  it('of an organization that is never idle miss rows after a restore: found as drift at the second look', async () => {
    await serveRequests(4);
    await moveToLedger();
    for (let index = 0; index < 3; index += 1) await admit(idAt(NOW_MS));
    assert.deepEqual(await compared(), { checked: 4, unsettled: 4, drift: 0 });
    assert.deepEqual(
      await compared(),
      { checked: 4, unsettled: 4, drift: 0 },
      'what is in flight is no drift',
    );

    await serveRequests(2);
    await loseStream();
    assert.deepEqual(await compared(), { checked: 4, unsettled: 0, drift: 4 });
    assert.deepEqual(
      warnings.map(({ counted: used, ledger }) => [used, ledger]),
      limits.map(({ metric }) => (metric === 'requests' ? [9, 4] : [57, 20])),
    );
    assert.deepEqual(await counted(), [9, 57, 57, 9], 'a limit under load is not lowered');
  });

  async function counted(): Promise<number[]> {
    return (await engine.usage(seeded.organizationId, limits)).map(({ used }) => used);
  }

  it('that are corrected keep what was reserved and settled meanwhile', async () => {
    await serveRequests(4);
    await moveToLedger();
    await changeWindows(1);
    const [running, late] = [idAt(NOW_MS), idAt(NOW_MS)];
    await admit(running);
    const stale = await engine.usage(seeded.organizationId, limits);
    assert.equal((await compared()).corrected, 4);
    await admit(late);
    assert.equal(
      await engine.recount(
        seeded.organizationId,
        limits.map((policy, index) => ({
          policy,
          startMs: windowStartMs(policy.period as 'hour', NOW_MS),
          amount: 1_000,
          mark: stale[index]?.mark ?? 0,
        })),
      ),
      0,
      'a comparison that is out of date corrects nothing',
    );
    await settle(running);
    await settle(late);
    await moveToLedger();
    await compared();
    assert.deepEqual(await counted(), [6, 30, 30, 6]);
    assert.deepEqual(await compared(), { checked: 4, unsettled: 0, drift: 0 });
  });

  it('that are enabled again count what the ledger holds, and soon what was running then', async () => {
    await serveRequests(2);
    await moveToLedger();
    const switchTo = async (enabled: boolean) => {
      for (const table of ['limit_policies', 'user_limit_policies'] as const)
        await db.updateTable(table).set({ enabled }).where('period', '!=', 'none').execute();
    };
    await switchTo(false);
    // Requests that the limits do not see, one of which is still running when they are enabled.
    const missed = async (requestId: string) => {
      const { organizationId, userId, providerId, endpointId } = seeded;
      const record = sampleRecord({ requestId, organizationId, userId, providerId, endpointId });
      await appendRequests(db, [ledgerRow(record, NOW_MS)]);
    };
    for (let index = 0; index < 3; index += 1) await missed(idAt(NOW_MS));
    await switchTo(true);
    const owned = await readCalendarPolicies(db, { organizationId: NIL, policyId: NIL }, 100);
    const before = limits.map(({ id }) => id);
    limits = owned.map(({ limit }) => limit).filter(({ id }) => before.some((old) => id === `${old}#1`));
    assert.equal(limits.length, 4);
    const openings = await calendarOpenings(
      { db: db, clock: { ...systemClock, nowMs: () => NOW_MS } },
      seeded.organizationId,
      limits,
    );
    await engine.initialize(seeded.organizationId, openings);
    assert.deepEqual(await counted(), [5, 25, 25, 5]);
    await missed(idAt(NOW_MS));
    assert.equal(await reconciliation.runNew(), true);
    assert.deepEqual(await counted(), [6, 30, 30, 6]);
  });

  it('whose windows were changed are found, and no longer once they are right again', async () => {
    await serveRequests(4);
    await moveToLedger();
    await changeWindows(3);
    assert.deepEqual(await compared(), { checked: 4, unsettled: 0, drift: 0, corrected: 4 });
    assert.deepEqual(await counted(), [4, 20, 20, 4], 'they are corrected');
    await reconciliation.stop();
    reconciliation = reconcile({ recount: async () => 0 });
    correctedBefore = 0;
    await changeWindows(3);
    assert.equal((await compared()).drift, 4);
    assert.equal(reconciliation.state().driftRatioMax, 0.85);
    await changeWindows(null);
    assert.deepEqual(await compared(), { checked: 4, unsettled: 4, drift: 4 }, 'unknown says nothing');
    for (const limit of limits) {
      const amount = limit.metric === 'requests' ? 4 : 20;
      const startMs = windowStartMs(limit.period as 'hour', NOW_MS);
      await engine.initialize(seeded.organizationId, [{ policy: limit, startMs, amount }]);
    }
    assert.deepEqual(await compared(), { checked: 4, unsettled: 0, drift: 0 });
  });

  /** Makes the engine forget windows, or hold another amount. */
  async function changeWindows(amount: number | null): Promise<void> {
    await redis.run(['FLUSHALL']);
    if (amount !== null) await open(amount);
  }

  it('are not judged by what waits for the ledger', async () => {
    await serveRequests(3);
    assert.deepEqual(await compared(), { checked: 4, unsettled: 4, drift: 0 });
    await moveToLedger();
    assert.deepEqual(await compared(), { checked: 4, unsettled: 0, drift: 0 });
  });

  it('ignore requests in flight', async () => {
    await serveRequests(3);
    await moveToLedger();
    const id = idAt(NOW_MS);
    await admit(id);
    assert.deepEqual(await compared(), { checked: 4, unsettled: 4, drift: 0 });
    await settle(id);
    await moveToLedger();
    assert.deepEqual(await compared(), { checked: 4, unsettled: 0, drift: 0 });
  });

  it('that have counted less than the ledger holds are found under load as well', async () => {
    await serveRequests(3);
    await moveToLedger();
    await changeWindows(1);
    await admit(idAt(NOW_MS));
    const { drift, corrected } = await compared();
    assert.deepEqual([drift, corrected], [0, 4]);
  });

  it('equal the ledger when a gateway that seemed dead settles late, without a correction', async () => {
    await serveRequests(1);
    const { organizationId, userId, providerId, endpointId } = seeded;
    const requestId = idAt(NOW_MS);
    const draft: ExpiredDraft = {
      requestId,
      organizationId,
      userId,
      keyId: null,
      clientRequestId: null,
      operation: 'chat',
      streaming: false,
      laneId: null,
      arrivedAtMs: NOW_MS,
      estimatedInputTokens: 4,
      estimatedOutputTokens: 5,
      candidates: [{ endpointId, providerId, upstreamModel: 'model-1', estimatedCostMicros: 9 }],
    };
    const answer = await engine.admit({ ...askFor(requestId), draft: JSON.stringify(draft) });
    assert.equal(answer.kind, 'admitted');
    const sweeper = createRedisEngine({
      aside: nothingAside,
      scripts: createScripts(redis),
      gatewayId: 'sweeper',
      nowMs: () => NOW_MS + 61_000,
      line: NOBODY,
    });
    assert.equal(await sweeper.sweep(), 1);
    await moveToLedger();
    assert.deepEqual(await counted(), [2, 14, 14, 2], 'posted at its estimate');
    assert.deepEqual(await compared(), { checked: 4, unsettled: 0, drift: 0 });
    await settle(requestId);
    await moveToLedger();
    assert.deepEqual(await counted(), [2, 10, 10, 2], 'corrected to what it used');
    assert.deepEqual(await compared(), { checked: 4, unsettled: 0, drift: 0 });
    assert.deepEqual(warnings, []);
  });

  it('may count a request in the window of its dispatch that the ledger counts where it arrived', async () => {
    await serveRequests(2);
    const id = idAt(HOUR_START_MS - 1_000);
    await admit(id);
    await settle(id, { latencyMs: HOUR_MS / 4 });
    await moveToLedger();
    const { drift } = await compared();
    assert.equal(drift, 0);
  });

  it('are taken in turn, and what was found stays until it is looked at again', async () => {
    await reconciliation.stop();
    let isRefused = true;
    reconciliation = reconcile({
      policiesPerRun: 3,
      recount: (...given) => (isRefused ? Promise.resolve(0) : engine.recount(...given)),
    });
    await serveRequests(1);
    await loseStream();
    await db.deleteFrom('requests').execute();
    assert.deepEqual(await compared(), { checked: 3, unsettled: 0, drift: 3 });
    assert.deepEqual(await compared(), { checked: 1, unsettled: 0, drift: 4 });
    isRefused = false;
    assert.deepEqual(
      await compared(),
      { checked: 3, unsettled: 0, drift: 1, corrected: 3 },
      'these are right again',
    );
    await db.deleteFrom('user_limit_policies').execute();
    for (let run = 0; run < 3; run += 1) await compared();
    assert.equal(reconciliation.state().drift, 0);
  });

  it('are compared by one worker at a time', async () => {
    const other = reconcile();
    await db.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(7235419016)`.execute(tx);
      assert.equal(await other.runOnce(), false);
    });
    assert.equal(await other.runOnce(), true);
    await other.stop();
  });

  it('are not compared while a store is away, and that is said', async () => {
    const away = startReconciliation({
      db,
      isIdle: () => Promise.reject(new Error('away')),
      usage: engine.usage,
      recount: engine.recount,
      windowStartMs,
      clock: { ...systemClock, nowMs: () => NOW_MS },
      log: { ...createLog('silent'), warn: (fields: object) => void warnings.push({ ...fields }) } as never,
    });
    assert.equal(await away.runOnce(), false);
    assert.equal(warnings.length, 1);
    assert.equal(away.state().finishedAtMs, null);
    await away.stop();
  });
});
