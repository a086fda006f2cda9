import { sql, type Transaction } from 'kysely';
import { RelayError } from '../../domain/relay-error.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { type Ownable, sayOf } from './ownership.ts';
import type { Table } from './rows.ts';
import { type RecordedChange, recorded } from './write-configuration.ts';

/** Rows of another table that are deleted along with a row of this one. */
export interface Dependent {
  readonly noun: string;
  readonly table: Table;
  /** The column with the id of the deleted row. */
  readonly column: string;
  /** Whether the configuration file may own it. */
  readonly isOwnable: boolean;
  /** Rows that are deleted along with this one. */
  readonly dependents: readonly Dependent[];
}

/** A row that a deletion takes along. */
export interface Taken extends Pick<Dependent, 'noun' | 'table'> {
  readonly row: { readonly id: string };
}

/** Returns the rows that the database deletes along with these, which the caller has locked. */
export async function takenWith(
  tx: Transaction<Database>,
  organizationId: string,
  dependents: readonly Dependent[],
  ids: readonly string[],
): Promise<Taken[]> {
  const taken: Taken[] = [];
  if (ids.length === 0) return taken;
  for (const { noun, table, column, dependents: below } of dependents) {
    const { rows } = await sql<Taken['row']>`
      select * from ${sql.table(table.name)}
      where organization_id = ${organizationId} and ${sql.id(column)} = any(${[...ids]}) order by id`.execute(
      tx,
    );
    taken.push(...rows.map((row) => ({ noun, table, row })));
    taken.push(
      ...(await takenWith(
        tx,
        organizationId,
        below,
        rows.map(({ id }) => id),
      )),
    );
  }
  return taken;
}

/** Each is an entry of the audit log of its own. */
export function recordedDeletions(taken: readonly Taken[]): RecordedChange[] {
  return taken.map((each) => recorded(each, each.row, null));
}

/** Throws 409 when the deletion would also delete rows that the configuration file owns. */
export async function demandNoneOwnedBelow(
  tx: Transaction<Database>,
  { noun, dependents }: { readonly noun: string; readonly dependents: readonly Dependent[] },
  row: Ownable & { readonly organization_id: string },
): Promise<void> {
  for (const below of dependents.filter(({ isOwnable }) => isOwnable)) {
    const found = await sql<Ownable>`
      select * from ${sql.table(below.table.name)}
      where organization_id = ${row.organization_id} and ${sql.id(below.column)} = ${row.id} and managed_by = 'file'
      limit 1`.execute(tx);
    const owned = found.rows[0];
    if (owned === undefined) continue;
    throw new RelayError('managed_by_file', {
      message: `Deleting the ${sayOf(noun, row)} would delete its ${sayOf(below.noun, owned)}, which is managed by file. Remove that from the file and run \`relay config apply --prune\` first.`,
      fields: { resource: below.noun, id: owned.id },
    });
  }
}
