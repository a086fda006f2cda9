import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { startRedis } from '@relay/testbed';
import type { Kysely } from 'kysely';
import { NOBODY, SOMEBODY } from '../admission/ask.fixture.ts';
import { windowStartMs } from '../admission/calendar-window.ts';
import type { Actual, AdmissionAsk, AdmissionEngine } from '../admission/engine.ts';
import { createRedisEngine } from '../admission/redis/engine.ts';
import { createScripts } from '../admission/redis/scripts.ts';
import type { AppliedLimit } from '../domain/limits/limit.ts';
import type { RequestRecord } from '../domain/request-record.ts';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { nothingAside } from '../kit/set-aside.fixture.ts';
import { smallestUuidAt } from '../kit/uuid-time.ts';
import { ledgerRow } from '../metering/ledger-row.ts';
import { sampleRecord } from '../metering/request-records.fixture.ts';
import { readEntry } from '../metering/stream-entry.ts';
import {
  type MigratedDatabase,
  migratedDatabase,
  type seedOrganization,
} from '../store/fixtures/migrated-database.fixture.ts';
import { appendRequests } from '../store/ledger/append-requests.ts';
import { ensureLedgerPartitions, utcDayOf } from '../store/ledger/ledger-partitions.ts';
import type { Database } from '../store/postgres/schema.ts';
import { createRedis, type Redis } from '../store/redis/redis.ts';
import { prefixOf, usageStreamOf } from '../store/redis/shards.ts';

const ACTUAL: Actual = { dispatched: true, tokens: 5, spendMicros: 5 };

export interface ReconciledStores {
  readonly db: MigratedDatabase['db'];
  readonly redis: Redis;
  readonly engine: AdmissionEngine;
  close(): Promise<void>;
}

/** A ledger with room for these days, and an engine whose time stands still at the end of them. */
export async function startReconciledStores(fromMs: number, nowMs: number): Promise<ReconciledStores> {
  const [migrated, server] = await Promise.all([migratedDatabase(), startRedis()]);
  const redis = createRedis({
    url: server.url,
    clock: systemClock,
    log: createLog('silent'),
    commandTimeoutMs: 10_000,
  });
  await redis.whenReady(60_000);
  const engine = createRedisEngine({
    aside: nothingAside,
    scripts: createScripts(redis),
    gatewayId: 'test',
    nowMs: () => nowMs,
    line: NOBODY,
  });
  await ensureLedgerPartitions(migrated.db, utcDayOf(fromMs), utcDayOf(nowMs));
  return {
    db: migrated.db,
    redis,
    engine,
    async close() {
      await redis.close();
      await server.remove();
      await migrated.drop();
    },
  };
}

/** A request id of that time. */
export function idAt(timeMs: number): string {
  const random = randomBytes(8).toString('hex');
  return `${smallestUuidAt(timeMs).slice(0, 14)}7${random.slice(0, 3)}-8${random.slice(3, 6)}-${random.slice(4)}`;
}

/** Four limits with calendar windows, and two that reconciliation skips. */
export async function addPolicies(
  db: Kysely<Database>,
  seeded: { readonly organizationId: string; readonly userId: string; readonly endpointId: string },
): Promise<void> {
  const owned = (place: number) => ({ organization_id: seeded.organizationId, id: idAt(place) });
  const global = { scope_type: 'global', limit_value: 1_000 } as const;
  await db
    .insertInto('limit_policies')
    .values([
      { ...owned(1), ...global, metric: 'requests', period: 'day' },
      { ...owned(2), ...global, metric: 'tokens', period: 'hour' },
      { ...owned(3), ...global, metric: 'spend', period: 'month' },
      // Sliding or disabled policies, which reconciliation skips.
      { ...owned(5), ...global, metric: 'requests', period: 'minute' },
      { ...owned(6), ...global, metric: 'requests', period: 'hour', enabled: false },
    ])
    .execute();
  const budget = { target_type: 'model', target_id: seeded.endpointId, limit_value: 1_000 } as const;
  await db
    .insertInto('user_limit_policies')
    .values({ ...owned(4), user_id: seeded.userId, ...budget, metric: 'requests', period: 'day' })
    .execute();
}

interface Site {
  readonly db: Kysely<Database>;
  readonly redis: Redis;
  readonly engine: AdmissionEngine;
  readonly seeded: Awaited<ReturnType<typeof seedOrganization>>;
  readonly limits: readonly AppliedLimit[];
}

/** Requests of one organization under these limits, from their ask to their row. `site`: as it is at each call. */
export function requestsAt(nowMs: number, site: () => Site) {
  const stream = () => usageStreamOf(prefixOf(site().seeded.organizationId));

  function askFor(operationId: string, release?: Actual): AdmissionAsk {
    const { seeded, limits } = site();
    const charges = limits.map((policy) => ({ policy, cost: policy.metric === 'requests' ? 1 : 9 }));
    return {
      organizationId: seeded.organizationId,
      operationId,
      queue: 'q',
      waitersMax: 10,
      ...SOMEBODY,
      candidates: [{ endpointId: seeded.endpointId, paced: false, charges }],
      selection: 'preferred',
      waitMsMax: 0,
      leaseMs: 60_000,
      draft: '{}',
      ...(release === undefined ? {} : { release }),
    };
  }

  /** Start amounts of windows that the engine does not know. */
  function open(amount: number): Promise<void> {
    const { engine, seeded, limits } = site();
    const startOf = ({ period }: AppliedLimit) => windowStartMs(period as 'hour', nowMs);
    const openings = limits.map((policy) => ({ policy, startMs: startOf(policy), amount }));
    return engine.initialize(seeded.organizationId, openings);
  }

  async function admit(operationId: string, release?: Actual): Promise<void> {
    const { engine } = site();
    let answer = await engine.admit(askFor(operationId, release));
    if (answer.kind === 'rebuild') {
      await open(0);
      answer = await engine.admit(askFor(operationId, release));
    }
    assert.equal(answer.kind, 'admitted');
  }

  async function settle(
    requestId: string,
    over: Partial<RequestRecord> = {},
    actual = ACTUAL,
  ): Promise<void> {
    const { engine, seeded } = site();
    const { organizationId, userId, providerId, endpointId } = seeded;
    const record = sampleRecord({ requestId, organizationId, userId, providerId, endpointId, ...over });
    await engine.settle({ organizationId, operationId: requestId, actual, record: JSON.stringify(record) });
  }

  async function loseStream(): Promise<void> {
    await site().redis.run(['XTRIM', stream(), 'MAXLEN', '0']);
  }

  return {
    askFor,
    open,
    admit,
    settle,
    loseStream,
    async serveRequests(count: number): Promise<void> {
      for (let index = 0; index < count; index += 1) {
        const id = idAt(nowMs);
        await admit(id);
        await settle(id);
      }
    },
    /** Moves the stream to the ledger, as a worker does. */
    async moveToLedger(): Promise<void> {
      const { db, redis } = site();
      const entries = (await redis.run(['XRANGE', stream(), '-', '+'])) as [string, string[]][];
      const records = entries.flatMap(([id, fields]) => readEntry({ id, fields }, nowMs).records);
      await appendRequests(
        db,
        records.map(({ record }) => ledgerRow(record, nowMs)),
      );
      await loseStream();
    },
  };
}
