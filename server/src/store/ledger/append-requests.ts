import { type Kysely, sql } from 'kysely';
import { GATEWAY_LOST, isExpiredEstimate } from '../../domain/expired-draft.ts';
import { rowArrays } from '../postgres/row-arrays.ts';
import { columnsOf, type Database } from '../postgres/schema.ts';
import { COUNTED_COLUMNS, type LedgerRow } from './ledger-row.ts';
import { addRollups } from './rollups/add-rollups.ts';
import { addGuardrailRollups } from './rollups/guardrail-rollups.ts';
import { type LedgerChange, rollupsOf } from './rollups/rollups.ts';
import { addToOutbox } from './sinks/outbox.ts';

// Named one by one, so that a column which a newer version has added gets its default.
const COLUMNS = columnsOf('requests').filter((column) => column !== 'bound_policy_id');

/**
 * Writes rows to the ledger, of each request one, together with their sums: whatever is in the ledger is counted, and counted
 * once, whoever dies when. Answers the ids of those that were written. The same row sent twice, by this or another
 * process, is one row; a row that was posted at an estimate, because its gateway was taken for dead, is replaced
 * by the one that the gateway sends after all. The outbox of each sink gets the rows that were written.
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
  // Nearly always all of them are new, and their sums can be made while PostgreSQL is busy with the rows.
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

/** Answers the ids that were not there yet. The order keeps two batches that overlap from waiting for one another. */
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
 * Puts those that were not inserted in the place of estimates, where there are such, and answers what that changes. Any
 * other row stays as it is, so that the second to come finds nothing to replace.
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
