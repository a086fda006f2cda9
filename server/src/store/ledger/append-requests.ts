import { type Kysely, sql } from 'kysely';
import { GATEWAY_LOST, isExpiredEstimate } from '../../domain/expired-draft.ts';
import { rowArrays } from '../postgres/row-arrays.ts';
import { columnsOf, type Database } from '../postgres/schema.ts';
import { COUNTED_COLUMNS, type LedgerRow } from './ledger-row.ts';
import { addRollups } from './rollups/add-rollups.ts';
import { addGuardrailRollups } from './rollups/guardrail-rollups.ts';
import { type LedgerChange, rollupsOf } from './rollups/rollups.ts';
import { addToOutbox } from './sinks/outbox.ts';

// Listed by name, so that a column which a newer version has added gets its default.
const COLUMNS = columnsOf('requests').filter((column) => column !== 'bound_policy_id');

/**
 * Writes one ledger row per request together with its rollups, in one transaction, so every row is counted exactly once
 * whichever process dies. Returns the ids of the rows written. The same row sent twice is one row. A row posted at an
 * estimate, because its gateway was considered lost, is replaced by the row that the gateway still sends. The outbox of
 * each sink gets the rows that were written.
 */
export async function appendRequests(
  db: Kysely<Database>,
  rows: readonly LedgerRow[],
  sinks: readonly string[] = [],
): Promise<string[]> {
  if (rows.length === 0) return [];
  if (!db.isTransaction) return db.transaction().execute((tx) => appendRequests(tx, rows, sinks));
  const inserting = insert(db, rows);
  // Avoids an unhandled rejection; the error is rethrown at the await.
  inserting.catch(() => undefined);
  // Nearly always all rows are new, so their rollups are computed while PostgreSQL inserts them.
  const sumsOfAll = addRollups(rollupsOf(rows.map((row) => ({ row, times: 1 }))));
  const inserted = new Set(await inserting);
  if (inserted.size === rows.length) {
    await sumsOfAll?.execute(db);
    await addGuardrailRollups(rows)?.execute(db);
    await addToOutbox(sinks, rows)?.execute(db);
    return [...inserted];
  }
  const { replaced, changes } = await replaceEstimates(db, rows, inserted);
  for (const row of rows) if (inserted.has(row.request_id)) changes.push({ row, times: 1 });
  await addRollups(rollupsOf(changes))?.execute(db);
  const ids = new Set([...inserted, ...replaced]);
  const written = rows.filter(({ request_id }) => ids.has(request_id));
  await addGuardrailRollups(written)?.execute(db);
  await addToOutbox(sinks, written)?.execute(db);
  return [...ids];
}

/** Returns the ids that were new. The sort order prevents deadlocks between overlapping batches. */
async function insert(tx: Kysely<Database>, rows: readonly LedgerRow[]): Promise<string[]> {
  const sorted = rows.toSorted((one, other) => (one.request_id < other.request_id ? -1 : 1));
  const { columns, select } = rowArrays('requests', COLUMNS, sorted);
  const inserted = await sql<{ request_id: string }>`
    insert into requests (${columns}) ${select}
    on conflict (request_id) do nothing
    returning request_id`.execute(tx);
  return inserted.rows.map((row) => row.request_id);
}

/**
 * Replaces estimates by the rows that were not inserted, and returns what changed. All other rows stay, so a second
 * replacement finds nothing to replace.
 */
async function replaceEstimates(
  tx: Kysely<Database>,
  rows: readonly LedgerRow[],
  inserted: ReadonlySet<string>,
): Promise<{ replaced: string[]; changes: LedgerChange[] }> {
  const late = new Map<string, LedgerRow>();
  for (const row of rows) {
    const isEstimate = isExpiredEstimate(row.error_code, row.usage_source);
    if (!inserted.has(row.request_id) && !isEstimate) late.set(row.request_id, row);
  }
  if (late.size === 0) return { replaced: [], changes: [] };
  const estimates = await tx
    .selectFrom('requests')
    .select(COUNTED_COLUMNS)
    .where('request_id', '=', anyOf([...late.keys()]))
    .where('usage_source', '=', 'estimated')
    .where('error_code', '=', GATEWAY_LOST)
    .orderBy('request_id')
    .forUpdate()
    .execute();
  const replaced = estimates.map(({ request_id }) => request_id);
  if (replaced.length === 0) return { replaced, changes: [] };
  const better = replaced.flatMap((id) => late.get(id) ?? []);
  await tx.deleteFrom('requests').where('request_id', '=', anyOf(replaced)).execute();
  await insert(tx, better);
  const out = estimates.map((row) => ({ row, times: -1 as const }));
  return { replaced, changes: [...out, ...better.map((row) => ({ row, times: 1 as const }))] };
}

function anyOf(ids: readonly string[]) {
  return sql<string>`any(${ids}::uuid[])`;
}
