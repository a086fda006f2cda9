import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { GATEWAY_LOST } from '../../domain/expired-draft.ts';
import { type MigratedDatabase, migratedDatabase } from '../fixtures/migrated-database.fixture.ts';
import { appendRequests } from './append-requests.ts';
import { ensureLedgerPartitions, utcDayOf } from './ledger-partitions.ts';
import { sampleRow } from './ledger-row.fixture.ts';
import type { LedgerRow } from './ledger-row.ts';

/** Enough for COPY. */
const ROWS = 600;
const TEXTS = [
  '',
  '\\N',
  '\\',
  '\t',
  '\n',
  '\r\n',
  '\\.',
  '"',
  "it's",
  'naïve 😀',
  '{a,b}',
  'NULL',
  '\\t',
  null,
];

describe('a large batch on a server', () => {
  let migrated: MigratedDatabase;
  before(async () => {
    migrated = await migratedDatabase();
    const nowMs = Date.now();
    await ensureLedgerPartitions(migrated.db, utcDayOf(nowMs), utcDayOf(nowMs + 86_400_000));
  });
  after(() => migrated.drop());

  const append = (rows: readonly LedgerRow[], sinks: readonly string[] = []) =>
    appendRequests(migrated.db, rows, { sinks, copies: true });

  function batch(over: Partial<LedgerRow> = {}): LedgerRow[] {
    return Array.from({ length: ROWS }, () => sampleRow(over));
  }

  async function stored(rows: readonly LedgerRow[]) {
    const ids = rows.map(({ request_id }) => request_id);
    return migrated.db
      .selectFrom('requests')
      .selectAll()
      .where('request_id', 'in', ids)
      .orderBy('request_id')
      .execute();
  }

  /** Requests of an organization that each family and bucket size counts, and their latency. */
  async function counted(organizationId: string) {
    const { rows } = await sql<{ requests: number; latency: number }>`
      select distinct sum(requests_completed + requests_failed + requests_cancelled)::integer as requests,
        sum(latency_ms_sum)::integer as latency
      from request_rollups where organization_id = ${organizationId} group by family, bucket`.execute(
      migrated.db,
    );
    return rows;
  }

  const inOrder = (rows: readonly LedgerRow[]) =>
    rows.toSorted((one, other) => (one.request_id < other.request_id ? -1 : 1));

  it('comes back as it was written, whatever characters are in it', async () => {
    const rows = batch().map((row, index): LedgerRow => {
      const text = TEXTS[index % TEXTS.length] ?? null;
      const trace: LedgerRow['trace'] = {
        timings: null,
        candidates: [
          { endpoint_id: text ?? '', rank: 1, verdict: 'selected', reason: text ?? '', wait_ms: null },
        ],
        guardrails: [],
      };
      return { ...row, model: text, client_request_id: text, upstream_model: text, trace };
    });
    assert.equal((await append(rows)).length, ROWS);
    assert.deepEqual(
      await stored(rows),
      inOrder(rows).map((row) => ({ ...row, bound_policy_id: null })),
    );
  });

  it('is one row and one count per request, however often and however concurrently it is sent', async () => {
    const { organization_id } = sampleRow();
    const rows = batch({ organization_id, latency_ms: 3 });
    const reported = await Promise.all([append(rows), append(rows.toReversed()), append(rows.slice(100))]);
    assert.deepEqual(reported.flat().sort(), rows.map(({ request_id }) => request_id).sort());
    assert.deepEqual(await append(rows, ['files']), []);
    assert.deepEqual(await counted(organization_id), [{ requests: ROWS, latency: 3 * ROWS }]);
    const outbox = await migrated.db.selectFrom('sink_outbox').select('id').execute();
    assert.deepEqual(outbox, [], 'nothing was new');
  });

  it('writes what is new beside rows that exist, and replaces an estimate', async () => {
    const { organization_id } = sampleRow();
    const rows = batch({ organization_id, latency_ms: 3 });
    const [known, lost] = [rows[7], rows[500]];
    assert.ok(known !== undefined && lost !== undefined);
    const estimate = {
      ...lost,
      usage_source: 'estimated',
      error_code: GATEWAY_LOST,
      latency_ms: 90,
    } as const;
    await append([known, estimate]);
    const written = await append(rows, ['files']);
    assert.deepEqual(
      written.toSorted(),
      rows
        .filter((row) => row !== known)
        .map(({ request_id }) => request_id)
        .sort(),
    );
    assert.deepEqual(await counted(organization_id), [{ requests: ROWS, latency: 3 * ROWS }]);
    const outbox = await migrated.db.selectFrom('sink_outbox').select('row_count').execute();
    assert.deepEqual(outbox, [{ row_count: ROWS - 1 }]);
  });

  it('fails as a whole when one row is refused, and the connection stays usable', async () => {
    const { organization_id } = sampleRow();
    const rows = batch({ organization_id });
    const wrong = rows.with(ROWS - 1, sampleRow({ organization_id, model: 'm'.repeat(201) }));
    await assert.rejects(append(wrong), { code: '23514' });
    const unreadable = rows.with(0, sampleRow({ organization_id, latency_ms: 'soon' as unknown as number }));
    await assert.rejects(append(unreadable), { code: '22P02' });
    assert.deepEqual(await counted(organization_id), []);
    assert.equal((await append(rows)).length, ROWS);
  });
});
