import type { Transaction } from 'kysely';
import type { Database } from '../store/postgres/schema.ts';
import type { OwnedRows, OwnedTable, Row } from './owned-rows.ts';
import { isId, unknownReference } from './refusals.ts';

/** The row that a field of the body names, kept from being deleted until commit; 400 when it is not here. */
export async function heldReference<T extends OwnedTable>(
  tx: Transaction<Database>,
  rows: OwnedRows<T>,
  organizationId: string,
  named: { readonly param: string; readonly kind: string; readonly id: string },
): Promise<Row<T>> {
  const row = isId(named.id) ? await rows.hold(tx, organizationId, named.id) : undefined;
  if (row === undefined) throw unknownReference(named.param, named.kind);
  return row;
}
