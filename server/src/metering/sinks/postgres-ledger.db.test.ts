import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import type { RequestRecord } from '../../domain/request-record.ts';
import { systemClock } from '../../kit/clock.ts';
import { type MigratedDatabase, migratedDatabase } from '../../store/fixtures/migrated-database.fixture.ts';
import { ensureLedgerPartitions, utcDayOf } from '../../store/ledger/ledger-partitions.ts';
import { ledgerRow } from '../ledger-row.ts';
import { sampleRecord } from '../request-records.fixture.ts';
import { createPostgresLedger } from './postgres-ledger.ts';

const ENDPOINT_ID = '01890000-0000-7000-8000-000000000002';
const PROVIDER_ID = '01890000-0000-7000-8000-000000000003';

describe('a batch of records', () => {
  let migrated: MigratedDatabase;
  before(async () => {
    migrated = await migratedDatabase();
    const today = utcDayOf(Date.now());
    await ensureLedgerPartitions(migrated.db, today, today);
  });
  after(() => migrated.drop());

  /** The database, with a count of the statements sent to it. */
  function counted() {
    let statements = 0;
    const db = migrated.db.withPlugin({
      transformQuery({ node }) {
        statements += 1;
        return node;
      },
      transformResult: ({ result }) => Promise.resolve(result),
    });
    return { db, statements: () => statements };
  }

  const rowsOf = (records: readonly RequestRecord[]) =>
    records.map((record) => ledgerRow(record, Date.now()));
  const write = (records: readonly RequestRecord[]) =>
    createPostgresLedger({ db: migrated.db, clock: systemClock }).write(rowsOf(records));

  async function countRows(): Promise<number> {
    const { rows } = await sql<{ count: number }>`select count(*)::int as count from requests`.execute(
      migrated.db,
    );
    return rows[0]?.count ?? -1;
  }

  it('costs two statements without a sink, rollups included', async () => {
    const { db, statements } = counted();
    const records = Array.from({ length: 300 }, () => sampleRecord());
    assert.equal((await createPostgresLedger({ db, clock: systemClock }).write(rowsOf(records))).rows, 300);
    assert.equal(statements(), 2);
  });

  it('loses one bad record and no other, with a few more statements', async () => {
    const before = await countRows();
    const bad = sampleRecord({ latencyMs: 2 ** 40 });
    const records = Array.from({ length: 512 }, () => sampleRecord());
    records[317] = bad;
    const { db, statements } = counted();
    const { rows, refused } = await createPostgresLedger({ db, clock: systemClock }).write(rowsOf(records));
    assert.deepEqual([rows, [...refused.keys()]], [511, [bad.requestId]]);
    assert.equal(await countRows(), before + 511);
    // Halves of halves: one refusal and one success at each of nine levels.
    assert.ok(statements() <= 30, `${statements()} statements`);
  });

  it('accepts any text that a client sends', async () => {
    const texts = ['\0', 'a\ud800', '\udc00b', `${'x'.repeat(199)}😀`, 'm'.repeat(100_000)];
    const records = texts.map((text) => sampleRecord({ model: text, clientRequestId: text }));
    const { rows, refused } = await write(records);
    assert.deepEqual([rows, refused.size], [texts.length, 0]);
  });

  it('ignores fields that the ledger does not store', async () => {
    const { requestId } = await writeFull();
    const row = await migrated.db
      .selectFrom('requests')
      .select(['model', 'credential_id', 'bound_policy', 'trace', 'attempts', 'fallback_count'])
      .where('request_id', '=', requestId)
      .executeTakeFirstOrThrow();
    assert.deepEqual(row, {
      model: 'fast',
      credential_id: '01890000-0000-7000-8000-000000000001',
      bound_policy: {
        policy_id: 'policy',
        kind: 'api_key',
        scope_type: 'global',
        scope_id: null,
        metric: 'tokens',
        period: 'minute',
        resets_at: '2026-01-01T00:00:00.000Z',
      },
      trace: {
        timings: {
          receive_ms: 1,
          route_ms: 0,
          guard_ms: null,
          admit_ms: 2,
          wait_ms: 30,
          upstream_first_byte_ms: 200,
          first_content_ms: 240,
          total_ms: 900,
        },
        candidates: [{ endpoint_id: 'one', rank: 1, verdict: 'selected', reason: 'it is free', wait_ms: 30 }],
        guardrails: [],
      },
      attempts: [
        {
          endpoint_id: ENDPOINT_ID,
          provider_id: PROVIDER_ID,
          upstream_model: 'm',
          status: 200,
          outcome: 'completed',
          cause: null,
          started_ms: 33,
          wait_ms: 30,
          latency_ms: 800,
        },
      ],
      fallback_count: 0,
    });
  });

  async function writeFull(): Promise<RequestRecord> {
    const record = sampleRecord({
      model: 'fast',
      credentialId: '01890000-0000-7000-8000-000000000001',
      boundPolicy: {
        id: 'policy',
        kind: 'api_key',
        scopeType: 'global',
        scopeId: null,
        metric: 'tokens',
        period: 'minute',
        resetsAtMs: Date.UTC(2026, 0, 1),
      },
      timings: {
        receiveMs: 1,
        routeMs: 0,
        guardMs: null,
        admitMs: 2,
        waitMs: 30,
        upstreamFirstByteMs: 200,
        firstContentMs: 240,
        totalMs: 900,
      },
      candidates: [{ endpointId: 'one', rank: 1, verdict: 'selected', reason: 'it is free', waitMs: 30 }],
      attempts: [
        {
          endpointId: ENDPOINT_ID,
          providerId: PROVIDER_ID,
          upstreamModel: 'm',
          status: 200,
          outcome: 'completed',
          cause: null,
          startedMs: 33,
          waitMs: 30,
          latencyMs: 800,
        },
      ],
    });
    await write([record]);
    return record;
  }

  it('is kept when PostgreSQL fails for another reason than the records', async () => {
    await sql`alter function add_counts rename to add_counts_away`.execute(migrated.db);
    try {
      const before = await countRows();
      const records = Array.from({ length: 4 }, () => sampleRecord());
      await assert.rejects(write(records), { code: '42883' });
      assert.equal(await countRows(), before);
    } finally {
      await sql`alter function add_counts_away rename to add_counts`.execute(migrated.db);
    }
  });
});
