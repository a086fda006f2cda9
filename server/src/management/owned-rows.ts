import type { Insertable, Kysely, Selectable, Transaction, Updateable } from 'kysely';
import type { Database } from '../store/postgres/schema.ts';

/** The configuration tables whose rows belong to one organization and have a UUIDv7 for an id. */
export type OwnedTable =
  | 'providers'
  | 'credentials'
  | 'endpoints'
  | 'lanes'
  | 'lane_memberships'
  | 'guardrails'
  | 'guardrail_bindings'
  | 'pricing_policies'
  | 'limit_policies'
  | 'user_limit_policies'
  | 'api_key_limit_policies';

/** What every row of these tables has; said apart, because the compiler cannot see it through a type parameter. */
interface Owned {
  readonly organization_id: string;
  readonly id: string;
  readonly version: number;
}
export type Row<T extends OwnedTable> = Selectable<Database[T]> & Owned;

/** Undefined leaves the column alone: at its default when inserting, unchanged when updating. */
type Columns<C> = { readonly [K in keyof C]: C[K] | undefined };
type Managed = 'organization_id' | 'version' | 'created_at' | 'updated_at';
export type NewRow<T extends OwnedTable> = Columns<Omit<Insertable<Database[T]>, Managed>>;
export type Patch<T extends OwnedTable> = Columns<Omit<Updateable<Database[T]>, Managed | 'id'>>;

export interface RowRange {
  /** The id after which the range begins. */
  readonly afterId?: string | undefined;
  readonly limit?: number | undefined;
}

/** Every statement a resource needs on its own table, each held to one organization. */
export interface OwnedRows<T extends OwnedTable> {
  readonly table: T;
  /** In creation order. */
  list(db: Kysely<Database>, organizationId: string, range: RowRange): Promise<Row<T>[]>;
  find(db: Kysely<Database>, organizationId: string, id: string): Promise<Row<T> | undefined>;
  /** Waits for whoever is changing the row, and keeps others from changing or referring to it until commit. */
  lock(tx: Transaction<Database>, organizationId: string, id: string): Promise<Row<T> | undefined>;
  /** Keeps the row from being deleted until commit, so that a reference to it can be written. */
  hold(tx: Transaction<Database>, organizationId: string, id: string): Promise<Row<T> | undefined>;
  /** Undefined when a unique constraint stands against it; the transaction goes on. */
  insert(tx: Transaction<Database>, organizationId: string, row: NewRow<T>): Promise<Row<T> | undefined>;
  update(
    tx: Transaction<Database>,
    organizationId: string,
    id: string,
    patch: Patch<T>,
  ): Promise<Row<T> | undefined>;
  remove(tx: Transaction<Database>, organizationId: string, id: string): Promise<void>;
}

export function ownedRows<T extends OwnedTable>(table: T): OwnedRows<T> {
  // Kysely cannot follow a table that is a type parameter. All tables of the union have the columns used
  // here, and the shape of the row is restored on the way out.
  const one = (db: Kysely<Database>, organizationId: string, id: string) =>
    db
      .selectFrom<OwnedTable>(table)
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('id', '=', id);

  return {
    table,
    async list(db, organizationId, { afterId, limit }) {
      const rows = await db
        .selectFrom<OwnedTable>(table)
        .selectAll()
        .where('organization_id', '=', organizationId)
        .$if(afterId !== undefined, (query) => query.where('id', '>', afterId ?? ''))
        .orderBy('id')
        .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
        .execute();
      return rows as unknown as Row<T>[];
    },
    async find(db, organizationId, id) {
      return (await one(db, organizationId, id).executeTakeFirst()) as unknown as Row<T> | undefined;
    },
    async lock(tx, organizationId, id) {
      const row = await one(tx, organizationId, id).forUpdate().executeTakeFirst();
      return row as unknown as Row<T> | undefined;
    },
    async hold(tx, organizationId, id) {
      const row = await one(tx, organizationId, id).forKeyShare().executeTakeFirst();
      return row as unknown as Row<T> | undefined;
    },
    async insert(tx, organizationId, row) {
      const values = { ...withoutUndefined(row), organization_id: organizationId };
      const inserted = await tx
        .insertInto(table as 'lanes')
        .values(values as unknown as Insertable<Database['lanes']>)
        .onConflict((clash) => clash.doNothing())
        .returningAll()
        .executeTakeFirst();
      return inserted as unknown as Row<T> | undefined;
    },
    async update(tx, organizationId, id, patch) {
      const values = withoutUndefined(patch);
      if (Object.keys(values).length === 0) return await this.find(tx, organizationId, id);
      const updated = await tx
        .updateTable(table as 'lanes')
        .set(values as Updateable<Database['lanes']>)
        .where('organization_id', '=', organizationId)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst();
      return updated as unknown as Row<T> | undefined;
    },
    async remove(tx, organizationId, id) {
      await tx
        .deleteFrom(table as 'lanes')
        .where('organization_id', '=', organizationId)
        .where('id', '=', id)
        .execute();
    },
  };
}

function withoutUndefined(columns: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}
