import type { Transaction } from 'kysely';
import { type Insertable, type Kysely, type RawBuilder, type Selectable, sql, type Updateable } from 'kysely';
import { type Columns, type Database, type TableOf, tables } from '../../store/postgres/schema.ts';

/** A table whose rows have an organization, a UUIDv7 id and a version that every edit increments. */
export interface Table<C extends Columns = Columns> {
  readonly name: string;
  readonly columns: C;
}

type StoredTable = keyof typeof tables;

/**
 * A table of the store's schema. A resource whose table only management reads may describe its columns itself.
 */
export function storedTable<T extends StoredTable>(name: T): Table<(typeof tables)[T]> {
  return { name, columns: tables[name] };
}

/**
 * Columns of every such table. Declared explicitly, because TypeScript cannot derive them from a type
 * parameter.
 */
interface Owned {
  readonly organization_id: string;
  readonly id: string;
  readonly version: number;
}

export type RowOf<C extends Columns> = Selectable<TableOf<C>> & Owned;
export type Row<T extends StoredTable> = RowOf<(typeof tables)[T]>;

/** Undefined leaves the column alone: at its default when inserting, unchanged when updating. */
type Partly<Values> = { readonly [K in keyof Values]: Values[K] | undefined };
type Managed = 'organization_id' | 'version' | 'created_at' | 'updated_at';
export type NewRowOf<C extends Columns> = Partly<Omit<Insertable<TableOf<C>>, Managed>>;
export type PatchOf<C extends Columns> = Partly<Omit<Updateable<TableOf<C>>, Managed | 'id'>>;
export type Patch<T extends StoredTable> = PatchOf<(typeof tables)[T]>;

export interface RowRange {
  /** The range starts after this id. */
  readonly afterId?: string | undefined;
  readonly limit?: number | undefined;
}

/** Column values by name, as one statement writes them. */
export type Values = Readonly<Record<string, unknown>>;

/** The statements of a resource on its own table. Each is restricted to one organization. */
export interface OwnedRows<C extends Columns> {
  readonly table: Table<C>;
  /** In creation order. */
  list(db: Kysely<Database>, organizationId: string, range: RowRange): Promise<RowOf<C>[]>;
  find(db: Kysely<Database>, organizationId: string, id: string): Promise<RowOf<C> | undefined>;
  /** Waits for other writers of the row, and keeps them from changing or referring to it until commit. */
  lock(tx: Transaction<Database>, organizationId: string, id: string): Promise<RowOf<C> | undefined>;
  /** Keeps the row from being deleted until commit, so that a reference to it can be written. */
  hold(tx: Transaction<Database>, organizationId: string, id: string): Promise<RowOf<C> | undefined>;
  /** Undefined when a unique constraint forbids the row; the transaction stays usable. */
  insert(tx: Transaction<Database>, organizationId: string, row: NewRowOf<C>): Promise<RowOf<C> | undefined>;
  update(
    tx: Transaction<Database>,
    organizationId: string,
    id: string,
    patch: PatchOf<C>,
  ): Promise<RowOf<C> | undefined>;
  remove(tx: Transaction<Database>, organizationId: string, id: string): Promise<void>;
  /** Inserts rows in few statements. Throws when a unique constraint rejects one. */
  insertAll(tx: Transaction<Database>, organizationId: string, rows: readonly Values[]): Promise<RowOf<C>[]>;
  /** Applies one change to many rows. */
  updateAll(
    tx: Transaction<Database>,
    organizationId: string,
    ids: readonly string[],
    patch: Values,
  ): Promise<RowOf<C>[]>;
  removeAll(tx: Transaction<Database>, organizationId: string, ids: readonly string[]): Promise<void>;
}

/** Keeps statements far below PostgreSQL's limit on parameters. */
const ROWS_MAX = 500;

/**
 * Uses SQL text, because Kysely does not support a table name that is a type parameter. Identifiers come only
 * from the code; all values are parameters.
 */
export function ownedRows<C extends Columns>(table: Table<C>): OwnedRows<C> {
  const name = sql.table(table.name);
  const all = async (db: Kysely<Database>, query: RawBuilder<RowOf<C>>) => (await query.execute(db)).rows;
  const first = async (db: Kysely<Database>, query: RawBuilder<RowOf<C>>) => (await all(db, query))[0];
  const one = (organizationId: string, id: string, suffix: RawBuilder<unknown>) =>
    sql<RowOf<C>>`select * from ${name} where organization_id = ${organizationId} and id = ${id} ${suffix}`;

  const rows: OwnedRows<C> = {
    table,
    list: (db, organizationId, { afterId, limit }) => {
      const after = afterId === undefined ? sql`` : sql`and id > ${afterId}`;
      const bound = limit === undefined ? sql`` : sql`limit ${limit}`;
      return all(
        db,
        sql`select * from ${name} where organization_id = ${organizationId} ${after} order by id ${bound}`,
      );
    },
    find: (db, organizationId, id) => first(db, one(organizationId, id, sql``)),
    lock: (tx, organizationId, id) => first(tx, one(organizationId, id, sql`for update`)),
    hold: (tx, organizationId, id) => first(tx, one(organizationId, id, sql`for key share`)),
    insert: (tx, organizationId, row) =>
      first(tx, sql`${insertion(name, organizationId, [row])} on conflict do nothing returning *`),
    async update(tx, organizationId, id, patch) {
      if (Object.keys(withoutUndefined(patch)).length === 0) return rows.find(tx, organizationId, id);
      return (await rows.updateAll(tx, organizationId, [id], patch))[0];
    },
    remove: (tx, organizationId, id) => rows.removeAll(tx, organizationId, [id]),
    async insertAll(tx, organizationId, given) {
      const inserted: RowOf<C>[] = [];
      for (const some of chunks(given)) {
        inserted.push(...(await all(tx, sql`${insertion(name, organizationId, some)} returning *`)));
      }
      return inserted;
    },
    async updateAll(tx, organizationId, ids, patch) {
      const set = Object.entries(withoutUndefined(patch)).map(
        ([column, value]) => sql`${sql.id(column)} = ${value}`,
      );
      const updated: RowOf<C>[] = [];
      for (const some of chunks(ids)) {
        const among = sql`organization_id = ${organizationId} and id = any(${some})`;
        updated.push(...(await all(tx, sql`update ${name} set ${sql.join(set)} where ${among} returning *`)));
      }
      return updated;
    },
    async removeAll(tx, organizationId, ids) {
      for (const some of chunks(ids)) {
        await sql`delete from ${name} where organization_id = ${organizationId} and id = any(${some})`.execute(
          tx,
        );
      }
    },
  };
  return rows;
}

/** Rows that lack a column that others have get its default. */
function insertion(
  table: RawBuilder<unknown>,
  organizationId: string,
  given: readonly object[],
): RawBuilder<unknown> {
  const rows = given.map((row): Values => ({ ...withoutUndefined(row), organization_id: organizationId }));
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const tuples = rows.map((row) => {
    const values = columns.map((column) => (Object.hasOwn(row, column) ? sql`${row[column]}` : sql`default`));
    return sql`(${sql.join(values)})`;
  });
  return sql`insert into ${table} (${sql.join(columns.map((column) => sql.id(column)))}) values ${sql.join(tuples)}`;
}

function withoutUndefined(columns: object): Values {
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

function* chunks<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += ROWS_MAX) yield items.slice(at, at + ROWS_MAX);
}
