import { counted, countWords } from '@relay/contract/words';
import { ensureLedgerPartitions, ledgerDays } from '../../ledger/ledger-partitions.ts';
import type { DatabaseHandle, Session } from '../../postgres/database-handle.ts';
import { MIGRATION_TIMEOUT_MS, migrateUp } from '../../postgres/migrate.ts';
import { copyTable } from './copy-table.ts';
import { type MovedTable, quoted, readTables } from './table-catalog.ts';

export interface MovedRows {
  readonly table: string;
  readonly rows: number;
}

/** Nothing was moved; the message says why and what to do. */
export class MoveRefusedError extends Error {
  override readonly name = 'MoveRefusedError';
}

/** How long one statement may take; counting a table is one statement. */
const STATEMENT_MS_MAX = MIGRATION_TIMEOUT_MS;
/** The migration that creates one of them inserts its one row. */
const TABLES_OF_ONE_ROW: readonly string[] = ['config_clock', 'deployment'];
const CHECKS_TABLE = 'alert_checks';

/**
 * Copies everything from one database into an empty one, in one transaction, so the target is either unchanged or complete.
 * Returns the row count of every table, compared on both sides.
 */
export async function moveData(source: DatabaseHandle, target: DatabaseHandle): Promise<MovedRows[]> {
  await target.withSession(refuseFilled, STATEMENT_MS_MAX);
  await source.withSession((session) => migrateUp(session), MIGRATION_TIMEOUT_MS);
  await target.withSession((session) => migrateUp(session), MIGRATION_TIMEOUT_MS);
  for (const day of await ledgerDays(source.db)) await ensureLedgerPartitions(target.db, day, day);
  return source.withSession(
    (from) => target.withSession((to) => moveTables(from, to), STATEMENT_MS_MAX),
    STATEMENT_MS_MAX,
  );
}

async function moveTables(from: Session, to: Session): Promise<MovedRows[]> {
  await from.query('begin isolation level repeatable read read only');
  await to.query('begin');
  const tables = await readTables(to);
  // Another process may have started to use the target meanwhile; the locks prevent that from here on.
  for (const { name } of tables) await to.query(`lock table ${quoted(name)} in exclusive mode`);
  await refuseFilled(to);
  for (const table of TABLES_OF_ONE_ROW) await to.query(`delete from ${table}`);
  for (const table of tables) if (table.name !== CHECKS_TABLE) await copyTable(from, to, table);
  // Limits with alerts have added checks of their own as they arrived.
  await to.query(`delete from ${CHECKS_TABLE}`);
  for (const table of tables) if (table.name === CHECKS_TABLE) await copyTable(from, to, table);
  const moved: MovedRows[] = [];
  for (const table of tables) moved.push(await compareCounts(from, to, table));
  await to.query('commit');
  await from.query('commit');
  return moved;
}

async function compareCounts(from: Session, to: Session, { name }: MovedTable): Promise<MovedRows> {
  const [there, here] = [await countRows(from, name), await countRows(to, name)];
  if (there !== here)
    throw new MoveRefusedError(
      `Table ${name} has ${counted(there, 'row')}, but ${countWords(here)} arrived. Nothing was moved. If another process writes to this table, stop it, then try again.`,
    );
  return { table: name, rows: here };
}

async function refuseFilled(session: Session): Promise<void> {
  const filled: string[] = [];
  for (const { name } of await readTables(session)) {
    if (TABLES_OF_ONE_ROW.includes(name)) continue;
    const { rows } = await session.query(`select exists (select from ${quoted(name)}) as filled`);
    if (rows[0]?.['filled'] === true) filled.push(name);
  }
  if (filled.length > 0)
    throw new MoveRefusedError(
      `The target is not empty (${filled.join(', ')}). Create a new database, and don’t start a server on it first.`,
    );
}

async function countRows(session: Session, table: string): Promise<number> {
  const { rows } = await session.query(`select count(*) as count from ${quoted(table)}`);
  return Number(rows[0]?.['count']);
}
