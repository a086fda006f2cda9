import type { Transaction } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import { ownedRows, type Values } from '../resources/rows.ts';
import type { Section } from '../resources/stored-section.ts';
import { type RecordedChange, recorded } from '../resources/write-configuration.ts';
import type { Change } from './make-plan.ts';

interface WrittenRow {
  readonly id: string;
}

/** Writes the changes table by table, in few statements, and returns their audit entries. */
export async function writeChanges(
  tx: Transaction<Database>,
  organizationId: string,
  sections: readonly Section[],
  changes: readonly Change[],
): Promise<RecordedChange[]> {
  const after = new Map<string, WrittenRow>();
  for (const { name, table } of sections) {
    const own = changes.filter(({ section }) => section.name === name);
    const rows = ownedRows(table);
    const created = own.filter(({ action }) => action === 'create');
    const inserted = created.map(({ id, columns }) => ({ ...columns, id }));
    for (const row of await rows.insertAll(tx, organizationId, inserted)) after.set(row.id, row);
    const updated = own.filter(({ action }) => action === 'update' || action === 'release');
    for (const [columns, ids] of alike(updated)) {
      for (const row of await rows.updateAll(tx, organizationId, ids, columns)) after.set(row.id, row);
    }
  }
  // Deletes last and in reverse order, so that no remaining row refers to a deleted one.
  for (const { name, table } of sections.toReversed()) {
    const deleted = changes.filter(({ section, action }) => section.name === name && action === 'delete');
    await ownedRows(table).removeAll(
      tx,
      organizationId,
      deleted.map(({ id }) => id),
    );
  }
  return changes.map(({ section, id, stored }) =>
    recorded({ noun: section.kind, table: section.table }, stored?.row ?? null, after.get(id) ?? null),
  );
}

/**
 * Groups rows with equal changes into one statement: a first apply sets the same column in all existing rows.
 */
function alike(changes: readonly Change[]): [columns: Values, ids: string[]][] {
  const groups = Map.groupBy(changes, ({ id, columns }) =>
    holdsBytes(columns) ? id : JSON.stringify(columns),
  );
  return [...groups.values()].map((group) => [group[0]?.columns ?? {}, group.map(({ id }) => id)]);
}

function holdsBytes(columns: Values): boolean {
  return Object.values(columns).some((value) => value instanceof Buffer);
}
