import type { Session } from '../../postgres/database-handle.ts';

export interface MovedTable {
  readonly name: string;
  /** Without generated columns, which PostgreSQL computes. */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

interface ListedTable extends MovedTable {
  readonly refers_to: readonly string[];
}

/** Part of the schema, not of the data. */
const SCHEMA_TABLE = 'schema_migrations';

/** All tables, each after the tables it refers to. A partitioned table stands for its partitions. */
export async function readTables(session: Session): Promise<MovedTable[]> {
  const { rows: left } = await session.query<ListedTable>(
    `select relname as name,
        (select json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod)) order by attnum)
          from pg_attribute where attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
        array(select target.relname::text from pg_constraint join pg_class target on target.oid = confrelid
          where conrelid = pg_class.oid and contype = 'f' and confrelid <> conrelid) as refers_to
      from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relname <> $1
      order by relname`,
    [SCHEMA_TABLE],
  );
  const ordered: MovedTable[] = [];
  while (left.length > 0) {
    const waiting = new Set(left.map(({ name }) => name));
    const next = left.findIndex(({ refers_to }) => !refers_to.some((name) => waiting.has(name)));
    if (next === -1) throw new Error(`tables refer to one another in a circle: ${[...waiting].join(', ')}`);
    const [table] = left.splice(next, 1);
    if (table !== undefined) ordered.push({ name: table.name, columns: table.columns });
  }
  return ordered;
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
