import type { Kysely } from 'kysely';
import type { Counted } from '../../domain/access.ts';
import type { Columns, Database } from '../../store/postgres/schema.ts';
import type { Governor } from './governors.ts';
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

/** The stored state of one item. */
export interface StoredEntry {
  readonly entry: Entry;
  readonly row: { readonly id: string };
  readonly owned: boolean;
  readonly secret: StoredSecret | null;
}

/** A section and how its items are stored. */
export interface Section extends SectionShape {
  readonly table: Table;
  readonly counted: Counted | null;
  /** Parents whose behavior the items define. */
  readonly governors: readonly Governor[];
  /** Whether no gateway may use the old state of this section once an apply is answered. */
  readonly isFenced: boolean;
  /** A scope that an apply needs only when the file names or changes items of this section. */
  readonly scopeWhenNamed: string | null;
  columnsOf(entry: Entry, idOf: IdOf): Values;
  /** Adds what the rows do not store, such as secret references, for an export. */
  completed(entries: readonly Entry[]): readonly Entry[];
  /** The stored items in creation order. */
  read(db: Kysely<Database>, organizationId: string, keyOf: KeyOf): Promise<StoredEntry[]>;
  /** The location of the secret of a new item; null for a section without secrets. */
  readonly firstPlace: ((organizationId: string, id: string, entry: Entry, idOf: IdOf) => SecretPlace) | null;
}

interface SectionResource<C extends Columns> {
  readonly table: Table<C>;
  readonly counted?: Counted;
  readonly governors?: readonly Governor[];
  isFenced?(after: RowOf<C>): boolean;
}

export function storedSection<Item extends object, C extends Columns>(
  { table, counted, governors = [], isFenced }: SectionResource<C>,
  given: SectionOf<Item, C>,
): Section {
  const { announced, secret } = given;
  return {
    ...sectionShape(given),
    table,
    counted: counted ?? null,
    governors,
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
