import type { Insertable, Transaction, Updateable } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import type { Row } from '../owned-rows.ts';
import type { Change } from './make-plan.ts';
import type { Columns, ConfiguredTable, Section } from './sections/section.ts';

/** Far below what one statement may carry, whatever the table. */
const ROWS_MAX = 500;

/** Writes what changes, table by table, and gives the rows as they are afterwards by their ids. */
export async function writeChanges(
  tx: Transaction<Database>,
  organizationId: string,
  sections: readonly Section[],
  changes: readonly Change[],
): Promise<ReadonlyMap<string, Row<ConfiguredTable>>> {
  const after = new Map<string, Row<ConfiguredTable>>();
  for (const { name, table } of sections) {
    const own = changes.filter(({ section }) => section.name === name);
    const created = own.filter(({ action }) => action === 'create');
    const updated = own.filter(({ action }) => action === 'update' || action === 'release');
    for (const row of await insertRows(tx, organizationId, table, created)) after.set(row.id, row);
    for (const row of await updateRows(tx, organizationId, table, updated)) after.set(row.id, row);
  }
  // Last and backwards, so that nothing is deleted while something still names it.
  for (const { name, table } of sections.toReversed()) {
    const deleted = changes.filter(({ section, action }) => section.name === name && action === 'delete');
    await deleteRows(tx, organizationId, table, deleted);
  }
  return after;
}

async function insertRows(
  tx: Transaction<Database>,
  organizationId: string,
  table: ConfiguredTable,
  changes: readonly Change[],
): Promise<Row<ConfiguredTable>[]> {
  const inserted: Row<ConfiguredTable>[] = [];
  for (const some of chunks(changes)) {
    const rows = some.map(({ id, columns }) => ({ ...columns, organization_id: organizationId, id }));
    const found = await tx
      .insertInto(table as 'lanes')
      .values(rows as unknown as Insertable<Database['lanes']>[])
      .returningAll()
      .execute();
    inserted.push(...(found as unknown as Row<ConfiguredTable>[]));
  }
  return inserted;
}

/** Rows that change alike change in one statement: a file that takes over what is there sets one column in all. */
async function updateRows(
  tx: Transaction<Database>,
  organizationId: string,
  table: ConfiguredTable,
  changes: readonly Change[],
): Promise<Row<ConfiguredTable>[]> {
  const alike = Map.groupBy(changes, ({ id, columns }) =>
    holdsBytes(columns) ? id : JSON.stringify(columns),
  );
  const updated: Row<ConfiguredTable>[] = [];
  for (const group of alike.values()) {
    for (const some of chunks(group)) {
      const found = await tx
        .updateTable(table as 'lanes')
        .set((some[0]?.columns ?? {}) as Updateable<Database['lanes']>)
        .where('organization_id', '=', organizationId)
        .where(
          'id',
          'in',
          some.map(({ id }) => id),
        )
        .returningAll()
        .execute();
      updated.push(...(found as unknown as Row<ConfiguredTable>[]));
    }
  }
  return updated;
}

async function deleteRows(
  tx: Transaction<Database>,
  organizationId: string,
  table: ConfiguredTable,
  changes: readonly Change[],
): Promise<void> {
  for (const some of chunks(changes)) {
    await tx
      .deleteFrom(table as 'lanes')
      .where('organization_id', '=', organizationId)
      .where(
        'id',
        'in',
        some.map(({ id }) => id),
      )
      .execute();
  }
}

function holdsBytes(columns: Columns): boolean {
  return Object.values(columns).some((value) => value instanceof Buffer);
}

function* chunks(changes: readonly Change[]): Generator<readonly Change[]> {
  for (let at = 0; at < changes.length; at += ROWS_MAX) yield changes.slice(at, at + ROWS_MAX);
}
