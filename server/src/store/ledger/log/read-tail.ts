import { type Kysely, type RawBuilder, sql } from 'kysely';
import { smallestUuidAt } from '../../../kit/uuid-time.ts';
import type { Database } from '../../postgres/schema.ts';
import type { StoredTrace } from '../ledger-json.ts';
import { dispatchedMs, ENTRY_COLUMNS, type EntryRow } from './read-log.ts';
import { type Checkpoint, foreignBelowXid, type LedgerMoment, type Position } from './tail-checkpoint.ts';

/** The tail does not show a request that is recorded later than this after its arrival. */
const RECORDED_WITHIN_MS = 2 * 86_400_000;

export interface TailRow extends EntryRow {
  /** Null for a request without a trace. */
  readonly guardrails: StoredTrace['guardrails'] | null;
  readonly xid: number;
  readonly settled_at: Date;
}

interface Moment {
  readonly at_ms: number;
  readonly ended_below_xid: number;
  readonly next_xid: number;
}

/**
 * `at_ms` is the time before the statement saw anything, and `next_xid` is read after it. `xmax` of a snapshot cannot
 * replace `next_xid`: transactions that began after the last ended one lie beyond it. A standby does not list open
 * transactions and knows only the oldest.
 */
function momentOf(foreignXid: number): RawBuilder<Moment> {
  return sql`
    select (extract(epoch from statement_timestamp()) * 1000)::bigint as at_ms,
      seen.xmax + ((age('3'::xid)::bigint + 3 - seen.xmax) & 4294967295) as next_xid,
      least(seen.xmax, (
        select min(open.xid::text::bigint)
        from (select pg_snapshot_xip(seen.snapshot) union all select pg_snapshot_xmin(seen.snapshot)) open (xid)
        where open.xid::text::bigint >= ${foreignXid}::bigint
      )) as ended_below_xid
    from (
      select snapshot, pg_snapshot_xmax(snapshot)::text::bigint as xmax from pg_current_snapshot() as snapshot
    ) seen`;
}

/**
 * The number of the transaction that recorded a row. A row keeps only the lower 32 bits; the upper ones come
 * from the current transaction number.
 */
const XID = sql<number>`moment.next_xid - ((moment.next_xid - requests.xmin::text::bigint) & 4294967295)`;

/**
 * Rows recorded after a checkpoint, in tail order, by transactions older than every open one. Also returns the
 * moment, even without rows.
 */
export function tailQuery(
  organizationId: string,
  checkpoint: Checkpoint,
  limit: number,
): RawBuilder<Moment & { [Name in keyof TailRow]: TailRow[Name] | null }> {
  const { sinceMs } = checkpoint;
  const recentId = smallestUuidAt(Math.max(0, sinceMs - RECORDED_WITHIN_MS));
  const { xid, requestId } = checkpoint.told;
  const columns = sql.join(ENTRY_COLUMNS.map((column) => sql.ref(column)));
  return sql`
    select moment.*, told.* from (${momentOf(foreignBelowXid(checkpoint))}) moment left join lateral (
      select ${columns}, ${dispatchedMs}, requests.trace -> 'guardrails' as guardrails, ${XID} as xid,
        requests.settled_at
      from requests
      where requests.organization_id = ${organizationId} and requests.settled_at >= ${new Date(sinceMs)}
        and requests.request_id >= ${recentId}::uuid
        and ${XID} < moment.ended_below_xid and (${XID}, requests.request_id) > (${xid}::bigint, ${requestId}::uuid)
      order by xid, requests.request_id limit ${limit}
    ) told on true order by told.xid, told.request_id`;
}

export interface TailBatch {
  readonly rows: readonly TailRow[];
  readonly moment: LedgerMoment;
}

export async function readTail(
  db: Kysely<Database>,
  organizationId: string,
  checkpoint: Checkpoint,
  limit: number,
): Promise<TailBatch> {
  const { rows } = await tailQuery(organizationId, checkpoint, limit).execute(db);
  return {
    rows: rows.filter((row): row is typeof row & TailRow => row.request_id !== null),
    moment: toMoment(rows[0]),
  };
}

export async function readMoment(db: Kysely<Database>): Promise<LedgerMoment> {
  const { rows } = await momentOf(0).execute(db);
  return toMoment(rows[0]);
}

/** The position of one request in tail order. With a user id, only that user's requests are found. */
export async function findPosition(
  db: Kysely<Database>,
  organizationId: string,
  requestId: string,
  userId: string | undefined,
): Promise<(Position & { readonly settledAtMs: number; readonly moment: LedgerMoment }) | undefined> {
  const own = userId === undefined ? sql`true` : sql`requests.user_id = ${userId}`;
  const { rows } = await sql<Moment & { xid: number; request_id: string; settled_at: Date }>`
    select moment.*, ${XID} as xid, requests.request_id, requests.settled_at
    from (${momentOf(0)}) moment, requests
    where requests.organization_id = ${organizationId} and requests.request_id = ${requestId}::uuid
      and ${own}`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    xid: row.xid,
    requestId: row.request_id,
    settledAtMs: row.settled_at.getTime(),
    moment: toMoment(row),
  };
}

function toMoment(row: Moment | undefined): LedgerMoment {
  if (row === undefined) throw new Error('the ledger returned no snapshot');
  return { atMs: row.at_ms, endedBelowXid: row.ended_below_xid, nextXid: row.next_xid };
}
