import { type Insertable, type Kysely, sql } from 'kysely';
import { type Database, tables } from './schema.ts';

/** A ledger row as it is written; `attempts` as a value, not as text. */
export type LedgerRow = Required<Omit<Insertable<Database['requests']>, 'attempts'>> & {
  readonly attempts: readonly unknown[];
};

// Named one by one, so that a column which a newer version has added gets its default.
const COLUMNS = sql.join(Object.keys(tables.requests).map((column) => sql.ref(column)));

/**
 * Writes rows to the ledger and answers the ids that were not there yet: the same row sent twice, by this or
 * another process, is one row, and only the first to send it may count it. The order keeps two batches that
 * overlap from waiting for one another. One parameter carries the batch, so the number of parameters does
 * not bound its size.
 */
export async function appendRequests(db: Kysely<Database>, rows: readonly LedgerRow[]): Promise<string[]> {
  if (rows.length === 0) return [];
  const inserted = await sql<{ request_id: string }>`
    insert into requests (${COLUMNS})
    select ${COLUMNS} from jsonb_populate_recordset(null::requests, ${JSON.stringify(rows)}::jsonb)
    order by request_id
    on conflict (request_id) do nothing
    returning request_id`.execute(db);
  return inserted.rows.map((row) => row.request_id);
}
