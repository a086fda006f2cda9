import { CompiledQuery, type Kysely, sql } from 'kysely';
import { GATEWAY_LOST, isExpiredEstimate } from '../../domain/expired-draft.ts';
import { CopyData } from '../postgres/copy-in.ts';
import { copyTextOf } from '../postgres/copy-text.ts';
import { rowArrays } from '../postgres/row-arrays.ts';
import { columnsOf, type Database } from '../postgres/schema.ts';
import { addAlertChecks } from './alert-checks.ts';
import { COUNTED_COLUMNS, type CountedRow, type LedgerRow } from './ledger-row.ts';
import { addRollups } from './rollups/add-rollups.ts';
import { addAttributedRollups } from './rollups/attributed-rollups.ts';
import { addFailureRollups } from './rollups/failure-rollups.ts';
import { addGuardrailRollups } from './rollups/guardrail-rollups.ts';
import { createRollupSums, type LedgerChange, rollupsOf } from './rollups/rollups.ts';
import { addToOutbox } from './sinks/outbox.ts';

// Listed by name, so that a column which a newer version has added gets its default.
const COLUMNS = columnsOf('requests').filter((column) => column !== 'bound_policy_id');

/** Fewer rows are not worth the second transaction that a row which exists already would cost. */
const COPIED_ROWS_MIN = 200;
/** A part is made in less time than PostgreSQL needs for the one before. */
const ROWS_PER_PART = 250;

const textOf = copyTextOf<LedgerRow>('requests', COLUMNS);

export interface AppendOptions {
  /** Names of the sinks whose outboxes get the rows that were written. */
  readonly sinks?: readonly string[];
  /** Whether the database takes COPY, as a server does. */
  readonly copies?: boolean;
}

/**
 * Writes one ledger row per request together with its rollups, in one transaction, so every row is counted exactly once
 * whichever process dies. Returns the ids of the rows written. The same row sent twice is one row. A row posted at an
 * estimate, because its gateway was considered lost, is replaced by the row that the gateway still sends.
 */
export async function appendRequests(
  db: Kysely<Database>,
  rows: readonly LedgerRow[],
  { sinks = [], copies = false }: AppendOptions = {},
): Promise<string[]> {
  if (rows.length === 0) return [];
  if (db.isTransaction) return mergeRequests(db, rows, sinks);
  if (copies && rows.length >= COPIED_ROWS_MIN) {
    const areNew = await db
      .transaction()
      .execute((tx) => copyRequests(tx, rows, sinks))
      .then(() => true)
      // Not a savepoint: rows of one have a transaction id of their own, which the tail does not know.
      .catch((error: unknown) => {
        if (!isDuplicate(error)) throw error;
        return false;
      });
    if (areNew) return rows.map(({ request_id }) => request_id);
  }
  return db.transaction().execute((tx) => mergeRequests(tx, rows, sinks));
}

function isDuplicate(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23505';
}

/** Nearly always all rows are new. Otherwise it fails with a violated unique constraint. */
async function copyRequests(
  tx: Kysely<Database>,
  rows: readonly LedgerRow[],
  sinks: readonly string[],
): Promise<void> {
  const sums = createRollupSums();
  const sent = Promise.withResolvers<void>();
  function* parts(): Generator<string> {
    const sorted = inOrder(rows);
    for (let from = 0; from < sorted.length; from += ROWS_PER_PART) {
      const part = sorted.slice(from, from + ROWS_PER_PART);
      yield textOf(part);
      sums.add(part.map((row) => ({ row, times: 1 })));
    }
    sent.resolve();
  }
  const copy = `copy requests (${COLUMNS.join(', ')}) from stdin`;
  const copying = tx.executeQuery(CompiledQuery.raw(copy, [new CopyData(parts())]));
  // Made while PostgreSQL still works on the last rows.
  const adding = sent.promise.then(() => addRollups(sums.rollups(), addAlertChecks(rows)));
  // Avoids an unhandled rejection; the error is rethrown at the await.
  adding.catch(() => undefined);
  await copying;
  const rollups = await adding;
  await rollups?.execute(tx);
  const changes = rows.map((row) => ({ row, times: 1 }) as const);
  await addAttributedRollups(changes)?.execute(tx);
  await addFailureRollups(changes)?.execute(tx);
  await addGuardrailRollups(rows)?.execute(tx);
  await addToOutbox(sinks, rows)?.execute(tx);
}

/** For rows that may exist already. */
async function mergeRequests(
  tx: Kysely<Database>,
  rows: readonly LedgerRow[],
  sinks: readonly string[],
): Promise<string[]> {
  const inserted = new Set(await insert(tx, rows));
  const { replaced, changes } = await replaceEstimates(tx, rows, inserted);
  for (const row of rows) if (inserted.has(row.request_id)) changes.push({ row, times: 1 });
  const ids = new Set([...inserted, ...replaced]);
  const written = rows.filter(({ request_id }) => ids.has(request_id));
  // In the order of `copyRequests`, so that two workers never wait for each other.
  await addRollups(rollupsOf(changes), addAlertChecks(written))?.execute(tx);
  await addAttributedRollups(changes)?.execute(tx);
  await addFailureRollups(changes)?.execute(tx);
  await addGuardrailRollups(written)?.execute(tx);
  await addToOutbox(sinks, written)?.execute(tx);
  return [...ids];
}

/** The order prevents deadlocks between overlapping batches. */
function inOrder(rows: readonly LedgerRow[]): LedgerRow[] {
  return rows.toSorted((one, other) => (one.request_id < other.request_id ? -1 : 1));
}

/** Returns the ids that were new. */
async function insert(tx: Kysely<Database>, rows: readonly LedgerRow[]): Promise<string[]> {
  const { columns, select } = rowArrays('requests', COLUMNS, inOrder(rows));
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
    .$narrowType<Pick<CountedRow, 'attempts'>>()
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

/** Those of these requests that have a row. */
export async function knownRequests(db: Kysely<Database>, ids: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('requests')
    .select('request_id')
    .where('request_id', '=', anyOf(ids))
    .execute();
  return rows.map(({ request_id }) => request_id);
}
