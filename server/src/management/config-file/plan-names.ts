import { nameChangesBetween, type SaidChange } from '../resources/name-changes.ts';
import type { Row } from '../resources/rows.ts';
import type { Plan, PlanInput } from './make-plan.ts';

type NamedTable = 'lanes' | 'endpoints' | 'providers';

/** The callable names that the plan changes. */
export function nameChangesIn(input: PlanInput, { changes }: Plan): readonly SaidChange[] {
  const named: readonly string[] = ['lanes', 'endpoints', 'providers'];
  if (!changes.some(({ section }) => named.includes(section.name))) return [];
  return nameChangesBetween(rowsOf(input, []), rowsOf(input, changes));
}

function rowsOf({ stored }: PlanInput, changes: Plan['changes']) {
  const rowsIn = <T extends NamedTable>(name: T): Row<T>[] => {
    const rows = new Map([...(stored.get(name)?.values() ?? [])].map(({ row }) => [row.id, row]));
    for (const { section, action, id, columns } of changes) {
      if (section.name !== name) continue;
      if (action === 'delete') rows.delete(id);
      else rows.set(id, { ...rows.get(id), ...columns, id });
    }
    // Columns of a section are those of its table.
    return [...rows.values()] as Row<T>[];
  };
  return { lanes: rowsIn('lanes'), endpoints: rowsIn('endpoints'), providers: rowsIn('providers') };
}
