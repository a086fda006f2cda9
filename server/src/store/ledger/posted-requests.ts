import { type Kysely, sql } from 'kysely';
import { GATEWAY_LOST } from '../../domain/expired-draft.ts';
import type { Database } from '../postgres/schema.ts';

/** Those of these requests whose row is final; the estimate of a lost gateway is not. */
export async function readPostedRequests(
  db: Kysely<Database>,
  requestIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (requestIds.length === 0) return new Set();
  // The range keeps the query within the partitions of these days.
  const sorted = requestIds.toSorted();
  const { rows } = await sql<{ request_id: string }>`
    select request_id from requests
    where request_id = any(${requestIds}::uuid[])
      and request_id between ${sorted[0]}::uuid and ${sorted.at(-1)}::uuid
      and not (usage_source = 'estimated' and coalesce(error_code, '') = ${GATEWAY_LOST})`.execute(db);
  return new Set(rows.map(({ request_id }) => request_id));
}
