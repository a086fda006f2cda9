import type { Kysely } from 'kysely';
import type { Counted } from '../../domain/access.ts';
import type { Columns, Database } from '../../store/postgres/schema.ts';
import { ownedRows, type RowOf, type Table, type Values } from './rows.ts';
import type { SecretPlace } from './sealed-secret.ts';
import {
  type Entry,
  entryOf,
  type IdOf,
  itemOf,
  type KeyOf,
  type SectionOf,
  type SectionShape,
  type StoredSecret,
  sectionShape,
} from './section.ts';

/** What is stored of one item. */
export interface StoredEntry {
  readonly entry: Entry;
  readonly row: { readonly id: string };
  readonly owned: boolean;
  readonly secret: StoredSecret | null;
}

/** A section with how its items are stored. */
export interface Section extends SectionShape {
  readonly table: Table;
  readonly counted: Counted | null;
  /** Whether a change of it must have reached every gateway before an apply is answered. */
  readonly isFenced: boolean;
  /** The scope that only a file that names or changes its items needs. */
  readonly scopeWhenNamed: string | null;
  columnsOf(entry: Entry, idOf: IdOf): Values;
  /** Completes what the rows do not say, for an export. */
  completed(entries: readonly Entry[]): readonly Entry[];
  /** What is stored, in creation order. */
  read(db: Kysely<Database>, organizationId: string, keyOf: KeyOf): Promise<StoredEntry[]>;
  /** What the secret of an item that is not stored yet is sealed to; null for a section without secrets. */
  readonly firstPlace: ((organizationId: string, id: string, entry: Entry, idOf: IdOf) => SecretPlace) | null;
}

interface SectionResource<C extends Columns> {
  readonly table: Table<C>;
  readonly counted?: Counted;
  isFenced?(after: RowOf<C>): boolean;
}

export function storedSection<Item extends object, C extends Columns>(
  { table, counted, isFenced }: SectionResource<C>,
  given: SectionOf<Item, C>,
): Section {
  const { announced, secret } = given;
  return {
    ...sectionShape(given),
    table,
    counted: counted ?? null,
    isFenced: isFenced !== undefined,
    scopeWhenNamed: announced.manageWhenNamed === true ? announced.scopes.manage : null,
    columnsOf: (entry, idOf) => given.columnsOf(itemOf(entry), idOf),
    completed: (entries) => given.completed?.(entries.map(itemOf<Item>)).map(entryOf) ?? entries,
    async read(db, organizationId, keyOf) {
      const rows = await ownedRows(table).list(db, organizationId, {});
      return rows.map((row) => ({
        entry: entryOf(given.entryOf(row, keyOf)),
        row,
        owned: 'managed_by' in row && row.managed_by === 'file',
        secret: secret?.storedIn(row) ?? null,
      }));
    },
    firstPlace:
      secret === undefined
        ? null
        : (organizationId, id, entry, idOf) => secret.firstPlace(organizationId, id, itemOf(entry), idOf),
  };
}
