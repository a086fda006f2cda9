import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { type PrivateRedis, startRedis } from '@relay/testbed';
import { sql } from 'kysely';
import { windowStartMs } from '../admission/calendar-window.ts';
import type { Actual, AdmissionAsk, AdmissionEngine } from '../admission/engine.ts';
import { createRedisEngine } from '../admission/redis/engine.ts';
import { createScripts } from '../admission/redis/scripts.ts';
import type { AppliedLimit } from '../domain/limits/limit.ts';
import type { RequestRecord } from '../domain/request-record.ts';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { createIdleShards } from '../metering/compare-windows.ts';
import { ledgerRow } from '../metering/ledger-row.ts';
import { type Reconciliation, startReconciliation } from '../metering/reconcile.ts';
import { sampleRecord } from '../metering/request-records.fixture.ts';
import { type OwnedLimit, readCalendarPolicies } from '../store/configuration/calendar-policies.ts';
import {
  type MigratedDatabase,
  migratedDatabase,
  seedOrganization,
} from '../store/fixtures/migrated-database.fixture.ts';
import { appendRequests } from '../store/ledger/append-requests.ts';
import { ensureLedgerPartitions, utcDayOf } from '../store/ledger/ledger-partitions.ts';
import { createRedis, type Redis } from '../store/redis/redis.ts';
import { prefixOf, usageStreamOf } from '../store/redis/shards.ts';
import { addPolicies, idAt } from './reconciliation.fixture.ts';
import { calendarOpenings } from './window-openings.ts';

const HOUR_MS = 3_600_000;
// The middle of an hour, so that no window starts or ends during a test.
const NOW_MS = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + HOUR_MS / 2;
const HOUR_START_MS = windowStartMs('hour', NOW_MS);
const NIL = '00000000-0000-0000-0000-000000000000';
const ACTUAL: Actual = { dispatched: true, tokens: 5, spendMicros: 5 };

describe('limits compared with the ledger', () => {
  let migrated: MigratedDatabase;
  let server: PrivateRedis;
  let redis: Redis;
  let engine: AdmissionEngine;
  let seeded: Awaited<ReturnType<typeof seedOrganization>>;
  let limits: AppliedLimit[];
  let reconciliation: Reconciliation;
  let warnings: Record<string, unknown>[];

  before(async () => {
    [migrated, server] = await Promise.all([migratedDatabase(), startRedis()]);
    redis = createRedis({ url: server.url, clock: systemClock, log: createLog('silent') });
    await redis.whenReady(5_000);
    engine = createRedisEngine({ scripts: createScripts(redis), gatewayId: 'test', nowMs: () => NOW_MS });
    await ensureLedgerPartitions(migrated.db, utcDayOf(NOW_MS - HOUR_MS), utcDayOf(NOW_MS));
  });
  after(async () => {
    await redis.close();
    await server.remove();
    await migrated.drop();
  });

  beforeEach(async () => {
    seeded = await seedOrganization(migrated.db);
    await addPolicies(migrated.db, seeded);
    const owned = await readCalendarPolicies(migrated.db, { organizationId: NIL, policyId: NIL }, 100);
    limits = owned.map(({ limit }: OwnedLimit) => limit);
    assert.equal(limits.length, 4);
    warnings = [];
    reconciliation = reconcile();
  });
  afterEach(async () => {
    await reconciliation.stop();
    await redis.run(['FLUSHALL']);
    await migrated.db.deleteFrom('organizations').execute();
    await migrated.db.deleteFrom('requests').execute();
    await migrated.db.deleteFrom('request_rollups').execute();
  });

  function reconcile(over: { policiesPerRun?: number } = {}): Reconciliation {
    const log = {
      ...createLog('silent'),
      warn: (fields: Record<string, unknown>) => void warnings.push(fields),
    } as unknown as ReturnType<typeof createLog>;
    return startReconciliation({
      db: migrated.db,
      isIdle: createIdleShards(redis),
      usage: engine.usage,
      recount: engine.recount,
      windowStartMs,
      clock: { ...systemClock, nowMs: () => NOW_MS },
      log,
      ...over,
    });
  }

  function askFor(operationId: string, release?: Actual): AdmissionAsk {
    const charges = limits.map((policy) => ({ policy, cost: policy.metric === 'requests' ? 1 : 9 }));
    return {
      organizationId: seeded.organizationId,
      operationId,
      queue: 'q',
      waitersMax: 10,
      candidates: [{ endpointId: seeded.endpointId, paced: false, charges }],
      selection: 'preferred',
      waitMsMax: 0,
      leaseMs: 60_000,
      draft: '{}',
      ...(release === undefined ? {} : { release }),
    };
  }

  async function admit(operationId: string, release?: Actual): Promise<void> {
    let answer = await engine.admit(askFor(operationId, release));
    if (answer.kind === 'rebuild') {
      await open(0);
      answer = await engine.admit(askFor(operationId, release));
    }
    assert.equal(answer.kind, 'admitted');
  }

  /** Start amounts of windows that the engine does not know. */
  function open(amount: number): Promise<void> {
    const openings = limits.map((policy) => ({
      policy,
      startMs: windowStartMs(policy.period as 'hour', NOW_MS),
      amount,
    }));
    return engine.initialize(seeded.organizationId, openings);
  }

  async function settle(
    requestId: string,
    over: Partial<RequestRecord> = {},
    actual = ACTUAL,
  ): Promise<void> {
    const { organizationId, userId, providerId, endpointId } = seeded;
    const record = sampleRecord({ requestId, organizationId, userId, providerId, endpointId, ...over });
    await engine.settle({ organizationId, operationId: requestId, actual, record: JSON.stringify(record) });
  }

  async function serveRequests(count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const id = idAt(NOW_MS);
      await admit(id);
      await settle(id);
    }
  }

  /** Moves the stream to the ledger, as a worker does. */
  async function moveToLedger(): Promise<void> {
    const stream = usageStreamOf(prefixOf(seeded.organizationId));
    const entries = (await redis.run(['XRANGE', stream, '-', '+'])) as [string, string[]][];
    const records = entries.map(([, fields]) => JSON.parse(fields[1] ?? '') as RequestRecord);
    await appendRequests(
      migrated.db,
      records.map((record) => ledgerRow(record, NOW_MS)),
    );
    await redis.run(['XTRIM', stream, 'MAXLEN', '0']);
  }

  async function loseStream(): Promise<void> {
    await redis.run(['XTRIM', usageStreamOf(prefixOf(seeded.organizationId)), 'MAXLEN', '0']);
  }

  async function compared() {
    assert.equal(await reconciliation.runOnce(), true);
    const { checked, unsettled, drift } = reconciliation.state();
    return { checked, unsettled, drift };
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
    assert.deepEqual(await compared(), { checked: 4, unsettled: 0, drift: 4 });
    assert.equal(reconciliation.state().driftRatioMax, 0.25);
    assert.deepEqual(
      warnings.map(({ policy_id, counted, ledger }) => [policy_id, counted, ledger]),
      limits.map(({ id, metric }) => [id, ...(metric === 'requests' ? [5, 4] : [25, 20])]),
    );
    assert.equal(warnings[0]?.['organization_id'], seeded.organizationId);
    assert.deepEqual(await counted(), [4, 20, 20, 4], 'they are corrected');
    assert.deepEqual(await compared(), { checked: 4, unsettled: 0, drift: 0 });
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
    assert.equal((await compared()).drift, 4);
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
        await migrated.db.updateTable(table).set({ enabled }).where('period', '!=', 'none').execute();
    };
    await switchTo(false);
    // Requests that the limits do not see, one of which is still running when they are enabled.
    const missed = async (requestId: string) => {
      const { organizationId, userId, providerId, endpointId } = seeded;
      const record = sampleRecord({ requestId, organizationId, userId, providerId, endpointId });
      await appendRequests(migrated.db, [ledgerRow(record, NOW_MS)]);
    };
    for (let index = 0; index < 3; index += 1) await missed(idAt(NOW_MS));
    await switchTo(true);
    const owned = await readCalendarPolicies(migrated.db, { organizationId: NIL, policyId: NIL }, 100);
    const before = limits.map(({ id }) => id);
    limits = owned.map(({ limit }) => limit).filter(({ id }) => before.some((old) => id === `${old}#1`));
    assert.equal(limits.length, 4);
    const openings = await calendarOpenings(
      { db: migrated.db, clock: { ...systemClock, nowMs: () => NOW_MS } },
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
    assert.deepEqual(await compared(), { checked: 4, unsettled: 0, drift: 4 });
    assert.deepEqual(await counted(), [4, 20, 20, 4], 'they are corrected');
    await changeWindows(3);
    assert.equal((await compared()).drift, 4);
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
    const { drift } = await compared();
    assert.equal(drift, 4);
  });

  it('may count attempts that failed, of which the ledger knows the request alone', async () => {
    await serveRequests(2);
    const [refused, fallen] = [idAt(NOW_MS), idAt(NOW_MS)];
    await admit(refused);
    const nothing = { dispatched: true, tokens: 0, spendMicros: 0 };
    await settle(refused, { usageSource: 'none', state: 'failed', status: 500 }, nothing);
    await admit(fallen);
    await admit(fallen, { dispatched: true, tokens: 4, spendMicros: 0 });
    const attempt = {
      endpointId: seeded.endpointId,
      providerId: seeded.providerId,
      upstreamModel: 'model-1',
      status: null,
      outcome: 'failed',
      cause: null,
      latencyMs: 1,
    } as const;
    await settle(fallen, { attempts: [attempt, attempt] });
    await moveToLedger();
    const used = await engine.usage(seeded.organizationId, limits);
    assert.deepEqual(
      used.map((each) => each.used),
      [5, 19, 15, 5],
    );
    assert.deepEqual(await compared(), { checked: 4, unsettled: 0, drift: 0 });
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
    reconciliation = reconcile({ policiesPerRun: 3 });
    await serveRequests(1);
    await loseStream();
    await migrated.db.deleteFrom('requests').execute();
    assert.deepEqual(await compared(), { checked: 3, unsettled: 0, drift: 3 });
    assert.deepEqual(await compared(), { checked: 1, unsettled: 0, drift: 4 });
    assert.deepEqual(await compared(), { checked: 3, unsettled: 0, drift: 1 }, 'these are right again');
    await migrated.db.deleteFrom('user_limit_policies').execute();
    for (let run = 0; run < 3; run += 1) await compared();
    assert.equal(reconciliation.state().drift, 0);
  });

  it('are compared by one worker at a time', async () => {
    const other = reconcile();
    await migrated.db.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(7235419016)`.execute(tx);
      assert.equal(await other.runOnce(), false);
    });
    assert.equal(await other.runOnce(), true);
    await other.stop();
  });

  it('are not compared while a store is away, and that is said', async () => {
    const away = startReconciliation({
      db: migrated.db,
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
