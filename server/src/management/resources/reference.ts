import type { Transaction } from 'kysely';
import type { Database, tables } from '../../store/postgres/schema.ts';
import { isId, unknownReference } from './refusals.ts';
import { ownedRows, type Row, storedTable } from './rows.ts';

/**
 * The row that a body field names, which cannot be deleted until commit. Throws 404 when it does not exist
 * here.
 */
export async function heldReference<T extends keyof typeof tables>(
  tx: Transaction<Database>,
  table: T,
  organizationId: string,
  named: { readonly param: string; readonly kind: string; readonly id: string },
): Promise<Row<T>> {
  const rows = ownedRows(storedTable(table));
  const row = isId(named.id) ? await rows.hold(tx, organizationId, named.id) : undefined;
  if (row === undefined) throw unknownReference(named.param, named.kind);
  return row;
}
