import { type Kysely, sql } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import { demandNotOwnedByFile, type Ownable } from './ownership.ts';

/** A parent whose behavior a row defines: if the file manages it, it manages the row too. */
export interface Governor {
  readonly noun: string;
  readonly table: string;
  /** The column with the ID of the parent; null or another kind of ID where the row has no such parent. */
  readonly column: string;
}

/** Throws 409 for a row whose file-managed parent it defines: the file says what belongs to that parent. */
export async function demandGovernorsFree(
  db: Kysely<Database>,
  governors: readonly Governor[],
  row: Ownable & { readonly organization_id: string },
): Promise<void> {
  for (const { noun, table, column } of governors) {
    const found = await sql<Ownable>`
      select * from ${sql.table(table)}
      where organization_id = ${row.organization_id} and id = ${Reflect.get(row, column)} and managed_by = 'file'`.execute(
      db,
    );
    if (found.rows[0] !== undefined) demandNotOwnedByFile(noun, found.rows[0]);
  }
}
