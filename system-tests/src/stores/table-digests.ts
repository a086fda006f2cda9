import pg from 'pg';

export interface TableDigest {
  readonly rows: number;
  readonly digest: string;
}

/** Every row of every table, as text, in one digest for each table. Partitions are part of their table. */
export async function tableDigests(url: string): Promise<ReadonlyMap<string, TableDigest>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select relname as name from pg_class
       where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
    );
    const digests = new Map<string, TableDigest>();
    for (const { name } of tables) {
      const { rows } = await client.query<TableDigest>(
        `select count(*)::int as rows, md5(coalesce(string_agg(t::text, e'\\n' order by t::text), '')) as digest
         from ${pg.escapeIdentifier(name)} t`,
      );
      if (rows[0] !== undefined) digests.set(name, rows[0]);
    }
    return digests;
  } finally {
    await client.end();
  }
}
