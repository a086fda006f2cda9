import { type Kysely, sql } from 'kysely';
import type { Database } from '../../postgres/schema.ts';
import { dispatchedMs, ENTRY_COLUMNS } from '../log/read-log.ts';

/** A row as sinks get it: a log entry of any organization. */
export type SinkRow = Awaited<ReturnType<ReturnType<typeof rowsQuery>['execute']>>[number];

/** Looks the rows up by the primary key, in the partitions of their ids. Rows past the ledger's retention are left out. */
export function readSinkRows(db: Kysely<Database>, requestIds: readonly string[]): Promise<SinkRow[]> {
  return rowsQuery(db, requestIds).execute();
}

export function rowsQuery(db: Kysely<Database>, requestIds: readonly string[]) {
  return db
    .selectFrom('requests')
    .select(ENTRY_COLUMNS)
    .select(dispatchedMs)
    .select(['requests.organization_id', 'requests.credential_id', 'requests.settled_at'])
    .where('requests.request_id', '=', sql<string>`any(${requestIds}::uuid[])`);
}
