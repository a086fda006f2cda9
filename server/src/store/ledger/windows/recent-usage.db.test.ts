import assert from 'node:assert/strict';
import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { GATEWAY_LOST } from '../../../domain/expired-draft.ts';
import { smallestUuidAt } from '../../../kit/uuid-time.ts';
import { type MigratedDatabase, migratedDatabase } from '../../fixtures/migrated-database.fixture.ts';
import { appendRequests } from '../append-requests.ts';
import { ensureLedgerPartitions, utcDayOf } from '../ledger-partitions.ts';
import { sampleAttempt, sampleRow } from '../ledger-row.fixture.ts';
import type { LedgerRow } from '../ledger-row.ts';
import { readRecentUsage } from './recent-usage.ts';

const NOW_MS = Date.now();
const SINCE_MS = NOW_MS - 60_000;
const GLOBAL = { userId: null, keyId: null, scopeType: 'global', scopeId: null } as const;

describe('recent usage of requests', () => {
  let migrated: MigratedDatabase;
  const organizationId = randomUUIDv7();

  before(async () => {
    migrated = await migratedDatabase();
    await ensureLedgerPartitions(migrated.db, utcDayOf(NOW_MS - 7_200_000), utcDayOf(NOW_MS));
  });
  after(() => migrated.drop());

  /** A request that arrived that long ago. */
  function row(agoMs: number, over: Partial<LedgerRow> = {}): LedgerRow {
    const random = randomBytes(8).toString('hex');
    const id = `${smallestUuidAt(NOW_MS - agoMs).slice(0, 14)}7${random.slice(0, 3)}-8${random.slice(3, 6)}-${random.slice(4)}`;
    return sampleRow({
      request_id: id,
      organization_id: organizationId,
      settled_at: new Date(NOW_MS),
      latency_ms: 100,
      actual_cost_micros: 5,
      ...over,
    });
  }

  async function usesOf(metric: 'requests' | 'tokens', rows: readonly LedgerRow[], counts = {}) {
    await migrated.db.deleteFrom('requests').execute();
    await appendRequests(migrated.db, rows);
    const uses = await readRecentUsage(
      migrated.db,
      organizationId,
      { metric, counts: { ...GLOBAL, ...counts } },
      SINCE_MS,
    );
    return uses.map(({ atMs, amount }) => ({ agoMs: NOW_MS - atMs, amount }));
  }

  it('lies where each attempt was dispatched, and a request without one after its wait', async () => {
    const attempts = [
      sampleAttempt({ started_ms: 5 }),
      sampleAttempt({ started_ms: 7_000, sent: false }),
      sampleAttempt({ started_ms: 9_000 }),
    ];
    const uses = await usesOf('requests', [
      row(50_000, { wait_ms: 10_000, latency_ms: 11_000 }),
      row(30_000, { attempts, latency_ms: 9_100 }),
    ]);
    assert.deepEqual(
      uses.sort((a, b) => b.agoMs - a.agoMs),
      [
        { agoMs: 40_000, amount: 1 },
        { agoMs: 29_995, amount: 1 },
        { agoMs: 21_000, amount: 1 },
      ],
    );
  });

  it('is what was reserved at the dispatch, and what went beyond it at the end', async () => {
    const uses = await usesOf('tokens', [row(20_000, { actual_output_tokens: 105, latency_ms: 15_000 })]);
    assert.deepEqual(uses, [
      { agoMs: 20_000, amount: 10 },
      { agoMs: 5_000, amount: 100 },
    ]);
  });

  it('is of each attempt what it used, beyond its reservation when it ended', async () => {
    const use = { source: 'reported', input_tokens: 5, output_tokens: 35, cost_micros: 0 } as const;
    const endpointId = randomUUIDv7();
    const attempts = [
      sampleAttempt({ endpoint_id: endpointId, started_ms: 1_000, latency_ms: 2_000, use }),
      sampleAttempt({ started_ms: 4_000, use: { ...use, output_tokens: 2 } }),
    ];
    const rows = [row(20_000, { attempts, latency_ms: 6_000 })];
    const first = [
      { agoMs: 19_000, amount: 10 },
      { agoMs: 17_000, amount: 30 },
    ];
    assert.deepEqual(await usesOf('tokens', rows), [...first, { agoMs: 16_000, amount: 7 }]);
    const ofEndpoint = { scopeType: 'endpoint', scopeId: endpointId };
    assert.deepEqual(await usesOf('tokens', rows, ofEndpoint), first);
  });

  it('has what the provider refused, as a request without usage', async () => {
    const refused = {
      usage_source: 'none',
      state: 'failed',
      status: 429,
      attempts: [sampleAttempt()],
    } as const;
    assert.deepEqual(await usesOf('requests', [row(10_000, refused)]), [{ agoMs: 10_000, amount: 1 }]);
    assert.deepEqual(await usesOf('tokens', [row(10_000, refused)]), []);
  });

  it('of a request whose process was lost lies as late as it can have been dispatched', async () => {
    const lost = {
      error_code: GATEWAY_LOST,
      usage_source: 'estimated',
      state: 'failed',
      latency_ms: 8_000,
    } as const;
    assert.deepEqual(await usesOf('requests', [row(10_000, lost)]), [{ agoMs: 2_000, amount: 1 }]);
  });

  it('has arrived before and was dispatched since, and not the other way round', async () => {
    const uses = await usesOf('requests', [
      row(3_600_000, { wait_ms: 3_590_000, latency_ms: 3_591_000 }),
      row(61_000),
      row(10_000, { usage_source: 'none', actual_input_tokens: null, actual_output_tokens: null }),
      row(10_000, { organization_id: randomUUIDv7() }),
    ]);
    assert.deepEqual(uses, [{ agoMs: 10_000, amount: 1 }]);
  });

  it('is of those requests that the limit counts', async () => {
    const keyId = randomUUIDv7();
    const laneId = randomUUIDv7();
    const rows = [row(1_000, { key_id: keyId, lane_id: laneId }), row(2_000, { key_id: keyId }), row(3_000)];
    assert.equal((await usesOf('requests', rows, { keyId })).length, 2);
    assert.equal((await usesOf('requests', rows, { keyId, scopeType: 'lane', scopeId: laneId })).length, 1);
  });
});
