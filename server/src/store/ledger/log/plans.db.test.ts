import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { smallestUuidAt } from '../../../kit/uuid-time.ts';
import { type MigratedDatabase, migratedDatabase } from '../../fixtures/migrated-database.fixture.ts';
import type { Database } from '../../postgres/schema.ts';
import { ensureLedgerPartitions, utcDayOf } from '../ledger-partitions.ts';
import { type LogSearch, SCANNED_ROWS_MAX, type Wanted } from './log-search.ts';
import { examplesQuery } from './read-examples.ts';
import { entriesQuery, requestQuery, scanEndQuery } from './read-log.ts';
import { findPosition, readMoment, tailQuery } from './read-tail.ts';
import { checkpointAfter, checkpointAt } from './tail-checkpoint.ts';

const DAY_MS = 86_400_000;
const DAYS = 4;
const ROWS = 120_000;
const LIMIT = 51;
const RARE = randomUUIDv7();
const OFTEN = randomUUIDv7();

describe(`reading a ledger of ${ROWS} requests`, () => {
  // The latest noon: shortly before midnight the oldest day would have so few rows that reading all of them is the best plan.
  const nowMs = Math.floor((Date.now() - DAY_MS / 2) / DAY_MS) * DAY_MS + DAY_MS / 2;
  const fromId = smallestUuidAt(nowMs - DAYS * DAY_MS);
  const belowId = smallestUuidAt(nowMs + DAY_MS);
  const [organizationId, otherId] = [randomUUIDv7(), randomUUIDv7()];
  let migrated: MigratedDatabase;
  let db: Kysely<Database>;

  before(async () => {
    migrated = await migratedDatabase();
    db = migrated.database.ofOrganization(organizationId);
    await ensureLedgerPartitions(migrated.db, utcDayOf(nowMs - DAYS * DAY_MS), utcDayOf(nowMs));
    const stepMs = Math.floor((DAYS * DAY_MS) / ROWS);
    // One rare request is among the oldest; a fifth of the rows belongs to another organization.
    for (let from = 1; from < ROWS; from += 20_000) {
      await sql`insert into requests (request_id, organization_id, user_id, key_id, lane_id, endpoint_id, provider_id, model,
          error_code, state, operation, streaming, status, latency_ms, usage_source, settled_at)
        select (lpad(to_hex(${nowMs}::bigint - n * ${stepMs}::bigint), 12, '0') || '7000' || lpad(to_hex(n), 16, '8'))::uuid,
          case when n % 5 = 0 then ${otherId}::uuid else ${organizationId}::uuid end,
          id, id, id, id, id, id::text, case when state = 'failed' then id::text end, state,
          case when n % 2 = 0 then 'chat' else 'responses' end, false, 200, 10, 'none',
          to_timestamp((${nowMs}::bigint - n * ${stepMs}::bigint) / 1000.0)
        from (select n, case when n = ${ROWS - 9} then ${RARE}::uuid else ${OFTEN}::uuid end as id,
          case when n % 10 = 1 then 'failed' else 'completed' end as state
          from generate_series(${from}::int, ${from + 19_999}::int) n) generated`.execute(migrated.db);
    }
    await sql`analyze requests`.execute(migrated.db);
  });
  after(async () => {
    await migrated.drop();
  });

  async function planOf(query: RawBuilder<unknown>): Promise<PlanNode> {
    const { rows } = await sql<{ 'QUERY PLAN': { Plan: PlanNode }[] }>`
      explain (analyze, format json) ${query}`.execute(db);
    const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
    assert.ok(plan !== undefined);
    return plan;
  }

  async function assertBounded(query: RawBuilder<unknown>, rowsMax: number): Promise<void> {
    const plan = await planOf(query);
    assert.deepEqual(sequentialScans(plan), []);
    const read = rowsRead(plan);
    assert.ok(read <= rowsMax, `${read} rows of the ledger were read`);
  }

  const asSql = (query: { compile(): { sql: string; parameters: readonly unknown[] } }) => {
    const { sql: text, parameters } = query.compile();
    const parts = text.split(/\$\d+/);
    return sql.join(
      parts.map((part, index) =>
        index === 0 ? sql.raw(part) : sql`${parameters[index - 1]}${sql.raw(part)}`,
      ),
      sql``,
    );
  };
  const search = (wanted: Wanted): LogSearch => ({
    organizationId,
    wanted,
    fromId,
    beforeId: belowId,
    impossible: false,
    scannedRowsMax: SCANNED_ROWS_MAX,
  });

  const exact: Readonly<Record<string, Wanted>> = {
    'no filter': {},
    'a frequent user': { user_id: OFTEN },
    'a rare user': { user_id: RARE },
    'a user without requests': { user_id: randomUUIDv7() },
    'a frequent key': { key_id: OFTEN },
    'a rare key': { key_id: RARE },
    'a frequent lane': { lane_id: OFTEN },
    'a rare lane': { lane_id: RARE },
    'a frequent endpoint': { endpoint_id: OFTEN },
    'a rare endpoint': { endpoint_id: RARE },
    'a frequent provider': { provider_id: OFTEN },
    'a rare provider': { provider_id: RARE },
    'a frequent model': { model: OFTEN },
    'a rare model': { model: RARE },
    'a state that is not usual': { state: 'failed' },
    'a state without requests': { state: 'cancelled' },
    'a frequent error': { error_code: OFTEN },
    'a rare error': { error_code: RARE },
  };
  for (const [what, wanted] of Object.entries(exact)) {
    it(`a page by ${what} reads its own rows and few others`, async () => {
      // A value that every tenth row has may also be found by reading all rows.
      await assertBounded(asSql(entriesQuery(db, search(wanted), { fromId, belowId }, LIMIT)), 12 * LIMIT);
    });
  }

  const combined: Readonly<Record<string, Wanted>> = {
    'the usual state': { state: 'completed' },
    'an operation without requests': { operation: 'embeddings' },
    'what no request did': { waited: true },
    'what every request did': { fell_back: false },
    'what no request of a frequent lane did': { lane_id: OFTEN, waited: true, fell_back: true },
    'a verdict that no request has': { guardrail: { guardrail_id: RARE, verdict: 'flagged' } },
    'two that never meet': { lane_id: OFTEN, endpoint_id: RARE },
    'many of which the last is rare': { state: 'failed', model: OFTEN, operation: 'embeddings' },
  };
  for (const [what, wanted] of Object.entries(combined)) {
    it(`a page by ${what} goes through no more rows than one statement may`, async () => {
      const range = { fromId, belowId };
      // When nearly all rows belong to one organization, PostgreSQL skips the others rather than use the index.
      const rowsMax = SCANNED_ROWS_MAX * 1.3;
      await assertBounded(asSql(entriesQuery(db, search(wanted), range, LIMIT)), rowsMax);
      await assertBounded(asSql(scanEndQuery(db, search(wanted), range)), rowsMax);
    });
  }

  it('one request is found by its id', async () => {
    const [row] = await entriesQuery(db, search({}), { fromId, belowId }, 1).execute();
    const id = row?.request_id ?? '';
    await assertBounded(asSql(requestQuery(db, organizationId, id, undefined)), 1);
    await assertBounded(asSql(requestQuery(db, organizationId, id, OFTEN)), 1);
    const position = await findPosition(db, organizationId, id, undefined);
    assert.equal(position?.requestId, id);
  });

  it('examples of failures are found by their ids', async () => {
    const rows = await entriesQuery(db, search({ state: 'failed' }), { fromId, belowId }, 20).execute();
    const ids = rows.map(({ request_id }) => request_id);
    await assertBounded(examplesQuery(organizationId, ids), ids.length);
  });

  it('a tick of the tail reads only recently settled rows', async () => {
    const moment = await readMoment(db);
    const lately = Math.ceil((90_000 / DAY_MS / DAYS) * ROWS) + 5;
    await assertBounded(tailQuery(organizationId, checkpointAt({ ...moment, atMs: nowMs }), 1_000), lately);
    const [row] = await entriesQuery(
      db,
      search({}),
      { fromId, belowId: smallestUuidAt(nowMs - 600_000) },
      1,
    ).execute();
    const position = await findPosition(db, organizationId, row?.request_id ?? '', undefined);
    assert.ok(position !== undefined);
    const since = Math.ceil((640_000 / DAY_MS / DAYS) * ROWS) + 5;
    await assertBounded(tailQuery(organizationId, checkpointAfter(position, nowMs - 600_000), 1_000), since);
  });
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

const isLedger = ({ 'Relation Name': name }: PlanNode) => name?.startsWith('requests') === true;

function sequentialScans(plan: PlanNode): (string | undefined)[] {
  const scans = nodesOf(plan).filter((node) => isLedger(node) && node['Node Type'].includes('Seq Scan'));
  return scans.map((node) => node['Relation Name']);
}

/** How many ledger rows a plan read, matching or not. */
function rowsRead(plan: PlanNode): number {
  const read = nodesOf(plan)
    .filter(isLedger)
    .map((node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']);
  return read.reduce((sum, rows) => sum + rows, 0);
}
