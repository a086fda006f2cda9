import { type Kysely, sql } from 'kysely';

/** PostgreSQL's time, by which everything in the ledger is aged. */
export async function databaseTimeMs<DB>(db: Kysely<DB>): Promise<number> {
  const { rows } = await sql<{ ms: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`.execute(db);
  const [time] = rows;
  if (time === undefined) throw new Error('PostgreSQL did not return its time');
  return Math.floor(time.ms);
}
