import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { appendRequests, type LedgerRow } from './append-requests.ts';
import { dayOfRequestId, ensureLedgerPartitions, uuidRangeOfDay } from './ledger-partitions.ts';
import { type MigratedDatabase, migratedDatabase } from './migrated-database.fixture.ts';

function row(over: Partial<LedgerRow> = {}): LedgerRow {
  return {
    request_id: randomUUIDv7(),
    organization_id: randomUUIDv7(),
    user_id: null,
    key_id: null,
    lane_id: null,
    endpoint_id: null,
    provider_id: null,
    upstream_model: 'model-1',
    client_request_id: null,
    operation: 'chat',
    streaming: false,
    state: 'completed',
    status: 200,
    error_code: null,
    attempts: [{ status: 200 }],
    fallback_count: 0,
    wait_ms: 0,
    ttft_ms: null,
    latency_ms: 12,
    estimated_input_tokens: 5,
    estimated_output_tokens: 5,
    estimated_cost_micros: 5,
    actual_input_tokens: 5,
    actual_cached_input_tokens: 0,
    actual_output_tokens: 5,
    actual_cost_micros: 2 ** 40,
    usage_source: 'reported',
    bound_policy_id: null,
    settled_at: new Date('2026-11-15T00:00:00.123Z'),
    ...over,
  };
}

describe('ledger', () => {
  let migrated: MigratedDatabase;
  before(async () => {
    migrated = await migratedDatabase();
  });
  after(() => migrated.drop());

  async function partitions(): Promise<string[]> {
    const { rows } = await sql<{ name: string }>`
      select inhrelid::regclass::text as name from pg_inherits where inhparent = 'requests'::regclass order by 1
    `.execute(migrated.db);
    return rows.map(({ name }) => name);
  }

  it('makers of the same partitions at once all succeed, and each day is made once', async () => {
    const made = await Promise.all(
      Array.from({ length: 8 }, () => ensureLedgerPartitions(migrated.db, '2025-12-30', '2026-01-02')),
    );
    assert.deepEqual(made.flat().sort(), ['2025-12-30', '2025-12-31', '2026-01-01', '2026-01-02']);
    assert.deepEqual(await partitions(), [
      'requests_20251230',
      'requests_20251231',
      'requests_20260101',
      'requests_20260102',
    ]);
    assert.deepEqual(await ensureLedgerPartitions(migrated.db, '2026-01-01', '2026-01-02'), []);
  });

  it('a partition can be made while a transaction is writing to the ledger', async () => {
    const today = dayOfRequestId(randomUUIDv7());
    await ensureLedgerPartitions(migrated.db, today, today);
    await migrated.db.transaction().execute(async (tx) => {
      await appendRequests(tx, [row()]);
      assert.deepEqual(await ensureLedgerPartitions(migrated.db, '2030-01-01', '2030-01-01'), ['2030-01-01']);
    });
  });

  it('the same rows sent twice at once are one row each, and are reported as new once', async () => {
    const today = dayOfRequestId(randomUUIDv7());
    await ensureLedgerPartitions(migrated.db, today, today);
    const rows = Array.from({ length: 50 }, () => row()).sort((a, b) =>
      a.request_id < b.request_id ? -1 : 1,
    );
    const batches = [rows, rows.toReversed(), rows];
    const reported = await Promise.all(batches.map((batch) => appendRequests(migrated.db, batch)));
    assert.deepEqual(reported.flat().sort(), rows.map((each) => each.request_id).sort());
    const stored = await migrated.db
      .selectFrom('requests')
      .selectAll()
      .where(
        'request_id',
        'in',
        rows.map((each) => each.request_id),
      )
      .orderBy('request_id')
      .execute();
    assert.deepEqual(stored, rows);
  });

  it('a row outside every partition is an error, not a loss', async () => {
    const { from } = uuidRangeOfDay('1999-01-01');
    await assert.rejects(appendRequests(migrated.db, [row({ request_id: from })]), { code: '23514' });
  });

  it('a page of an organization’s requests reads the index and only the days it asks for', async () => {
    const { from } = uuidRangeOfDay('2026-01-01');
    const { rows } = await sql<{ 'QUERY PLAN': string }>`
      explain select * from requests
      where organization_id = ${randomUUIDv7()} and request_id >= ${from}::uuid
        and request_id < ${uuidRangeOfDay('2026-01-01').to}::uuid
      order by request_id desc limit 50`.execute(migrated.db);
    const plan = rows.map((line) => line['QUERY PLAN']).join('\n');
    assert.match(plan, /requests_20260101/);
    assert.doesNotMatch(plan, /requests_20260102|Seq Scan/);
  });

  it('rollup rows of the same dimensions, absent ones included, are one row', async () => {
    const organizationId = randomUUIDv7();
    const add = () =>
      migrated.db
        .insertInto('request_rollups')
        .values({
          organization_id: organizationId,
          bucket: 'hour',
          bucket_start: '2026-01-01T00:00:00Z',
          requests_completed: 1,
        })
        .onConflict((conflict) =>
          conflict
            .columns([
              'organization_id',
              'bucket',
              'bucket_start',
              'provider_id',
              'endpoint_id',
              'lane_id',
              'user_id',
              'key_id',
            ])
            .doUpdateSet({
              requests_completed: sql`request_rollups.requests_completed + excluded.requests_completed`,
            }),
        )
        .execute();
    await Promise.all([add(), add(), add()]);
    const rows = await migrated.db
      .selectFrom('request_rollups')
      .select('requests_completed')
      .where('organization_id', '=', organizationId)
      .execute();
    assert.deepEqual(rows, [{ requests_completed: 3 }]);
  });
});
