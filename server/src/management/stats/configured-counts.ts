import { type Kysely, sql } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';

export interface ConfiguredCounts {
  readonly providers: number;
  readonly endpoints: number;
  readonly lanes: number;
}

/** How many resources of each kind the organization has. */
export async function countConfigured(
  db: Kysely<Database>,
  organizationId: string,
): Promise<ConfiguredCounts> {
  const rowsOf = (table: keyof ConfiguredCounts) =>
    sql`(select count(*) from ${sql.table(table)} where organization_id = ${organizationId})`;
  const { rows } = await sql<ConfiguredCounts>`
    select ${rowsOf('providers')} as providers, ${rowsOf('endpoints')} as endpoints, ${rowsOf('lanes')} as lanes`.execute(
    db,
  );
  return rows[0] ?? { providers: 0, endpoints: 0, lanes: 0 };
}
