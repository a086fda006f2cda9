import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { GATEWAY_LOST } from '../../../domain/expired-draft.ts';
import { storedMoney } from '../../../domain/money/money.ts';
import { type MigratedDatabase, migratedDatabase } from '../../fixtures/migrated-database.fixture.ts';
import { appendRequests } from '../append-requests.ts';
import { ensureLedgerPartitions, utcDayOf } from '../ledger-partitions.ts';
import { sampleRow } from '../ledger-row.fixture.ts';
import { BUCKET_MS, bucketStart } from './bucket.ts';
import { readSeries } from './read-series.ts';
import { readStatementTotals } from './read-statement.ts';

const organizationId = randomUUIDv7();
const nowMs = Date.now();

describe('the sum of costs', () => {
  let migrated: MigratedDatabase;
  before(async () => {
    migrated = await migratedDatabase();
    await ensureLedgerPartitions(migrated.db, utcDayOf(nowMs - 86_400_000), utcDayOf(nowMs + 86_400_000));
  });
  after(() => migrated.drop());

  function rowOf(picos: bigint) {
    const { micros, roundingPicos } = storedMoney(picos);
    const cost = { actual_cost_micros: micros, actual_cost_rounding_picos: roundingPicos };
    return sampleRow({ organization_id: organizationId, ...cost });
  }

  async function sums(): Promise<bigint[]> {
    const fromMs = bucketStart('day', nowMs) - BUCKET_MS.day;
    const range = { bucket: 'day' as const, fromMs, toMs: fromMs + 3 * BUCKET_MS.day };
    const { cost_picos } = await readStatementTotals(migrated.db, organizationId, {
      startMs: range.fromMs,
      endMs: range.toMs,
    });
    const series = await readSeries(migrated.db, {
      organizationId,
      range,
      conditions: {},
      dimension: null,
      sums: ['cost_picos'],
      histogram: null,
    });
    return [BigInt(cost_picos), series.reduce((sum, row) => sum + (row.sums[0] ?? 0n), 0n)];
  }

  it('is exact however small the parts are, copied or merged, and beyond 64 bits', async () => {
    // A thousand times ten million dollars, and a fraction that no micro-USD has.
    const picos = Array.from({ length: 1_000 }, (_, index) => 10n ** 19n / 2n + BigInt(index * 7_919 + 1));
    const rows = picos.map(rowOf);
    await appendRequests(migrated.db, rows.slice(0, 900), { copies: true });
    await appendRequests(migrated.db, rows.slice(800));
    const exact = picos.reduce((sum, each) => sum + each, 0n);
    assert.deepEqual(await sums(), [exact, exact]);
  });

  it('takes an estimate back as it was added', async () => {
    const [before = 0n] = await sums();
    const lost = { usage_source: 'estimated', error_code: GATEWAY_LOST, state: 'failed' } as const;
    const row = rowOf(1_234_567n);
    await appendRequests(migrated.db, [{ ...row, ...lost }]);
    await appendRequests(migrated.db, [{ ...rowOf(7n), request_id: row.request_id }]);
    assert.deepEqual(await sums(), [before + 7n, before + 7n]);
  });
});
