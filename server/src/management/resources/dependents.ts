import { sql, type Transaction } from 'kysely';
import { RelayError } from '../../domain/relay-error.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { type Ownable, sayOf } from './ownership.ts';
import type { Table } from './rows.ts';

/** Rows of another table that are deleted along with a row of this one. */
export interface Dependent {
  readonly noun: string;
  readonly table: Pick<Table, 'name'>;
  /** The column with the id of the deleted row. */
  readonly column: string;
}

/** Throws 409 when the deletion would also delete rows that the configuration file owns. */
export async function demandNoneOwnedBelow(
  tx: Transaction<Database>,
  { noun, dependents }: { readonly noun: string; readonly dependents: readonly Dependent[] },
  row: Ownable & { readonly organization_id: string },
): Promise<void> {
  for (const below of dependents) {
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
