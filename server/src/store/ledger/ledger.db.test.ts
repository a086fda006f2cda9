import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { type MigratedDatabase, migratedDatabase } from '../fixtures/migrated-database.fixture.ts';
import { appendRequests } from './append-requests.ts';
import { ensureLedgerPartitions, utcDayOf, uuidRangeOfDay } from './ledger-partitions.ts';
import { sampleRow as row } from './ledger-row.fixture.ts';

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

  it('concurrent creators of the same partitions all succeed, and each day is created once', async () => {
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

  it('the same rows sent twice concurrently are one row each, and are reported as new once', async () => {
    const today = utcDayOf(Date.now());
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
    assert.deepEqual(
      stored,
      rows.map((each) => ({ ...each, bound_policy_id: null })),
    );
  });

  it('values come back as they were written, whatever characters are in them', async () => {
    const today = utcDayOf(Date.now());
    await ensureLedgerPartitions(migrated.db, today, today);
    const texts = [
      '',
      'NULL',
      '"',
      '\\',
      '\\"',
      '{a,b}',
      "it's",
      ' spaced ',
      'line\nbreak',
      'naïve 😀',
      '$1',
      null,
    ];
    const rows = texts.map((text) =>
      row({
        model: text,
        client_request_id: text,
        attempts: [
          {
            endpoint_id: randomUUIDv7(),
            provider_id: randomUUIDv7(),
            upstream_model: text ?? 'none',
            status: null,
            outcome: 'failed',
            cause: text,
            started_ms: 3,
            wait_ms: 0,
            latency_ms: 1,
          },
        ],
        bound_policy: {
          policy_id: text ?? '',
          kind: 'user',
          scope_type: 'global',
          scope_id: null,
          metric: 'spend',
          period: 'day',
          resets_at: null,
        },
        trace: { timings: null, candidates: [], guardrails: [] },
      }),
    );
    assert.equal((await appendRequests(migrated.db, rows)).length, rows.length);
    for (const each of rows) {
      const stored = await migrated.db
        .selectFrom('requests')
        .selectAll()
        .where('request_id', '=', each.request_id)
        .execute();
      assert.deepEqual(stored, [{ ...each, bound_policy_id: null }]);
    }
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
});
