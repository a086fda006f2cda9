import { type Kysely, sql } from 'kysely';
import type { Quantity } from '../../../domain/limits/metric.ts';
import { smallestUuidAt } from '../../../kit/uuid-time.ts';
import type { Database } from '../../postgres/schema.ts';
import { LEDGER_QUANTITIES } from './ledger-quantities.ts';

/** `Infinity` where the ledger does not record the amount. */
type Amounts = Readonly<Record<Quantity, number>>;

/** How much a live window may differ from the ledger's sums without any loss. */
export interface WindowEdge {
  /** Live counts may be higher by this much. */
  readonly above: Amounts;
  /** Live counts may be lower by this much. */
  readonly below: Amounts;
}

const DAY_MS = 86_400_000;
/** Requests that began longer before the window are ignored. */
const LOOK_BACK_MS = 3_600_000;
/** How far the clocks of gateways and Redis may differ. */
const CLOCKS_MS = 5_000;
const ROWS_MAX = 20_000;

/**
 * The ledger counts a request at its arrival, with the usage of its last attempt. Live windows count it at its dispatch,
 * and count failed attempts too. So requests that crossed the window's start, failed or fell back may be in one and not in
 * the other. Null when there are too many at the start to read.
 */
export async function readWindowEdge(
  db: Kysely<Database>,
  organizationId: string,
  startMs: number,
): Promise<WindowEdge | null> {
  const before = await sumRows(db, organizationId, startMs, startMs - LOOK_BACK_MS, startMs);
  const after = await sumRows(db, organizationId, startMs, startMs, startMs + CLOCKS_MS);
  if (before === null || after === null) return null;
  const failed = await readFailed(db, organizationId, startMs);
  const attempts = failed.fallbacks + (await readRepeats(db, organizationId, startMs));
  return {
    above: {
      requests: before.requests + attempts + failed.unmetered,
      // An unanswered attempt counts with its input, and from a hard limit with all that it may have used; no row records that.
      tokens: attempts > 0 ? Number.POSITIVE_INFINITY : before.tokens,
      spend: attempts > 0 ? Number.POSITIVE_INFINITY : before.spend,
    },
    below: after,
  };
}

/** The requests that arrived in this period and were in flight at the window's start. */
async function sumRows(
  db: Kysely<Database>,
  organizationId: string,
  startMs: number,
  fromMs: number,
  toMs: number,
): Promise<Amounts | null> {
  const { rows } = await sql<Amounts & { seen: number }>`
    select count(*)::int as seen,
      (count(*) filter (where crosses))::int as requests,
      coalesce(sum(tokens) filter (where crosses), 0)::bigint as tokens,
      coalesce(sum(spend) filter (where crosses), 0)::bigint as spend
    from (select
        ('x' || translate(left(request_id::text, 13), '-', ''))::bit(48)::bigint + latency_ms
          >= ${startMs - CLOCKS_MS} as crosses,
        ${sql.raw(LEDGER_QUANTITIES.tokens.ofRow)} as tokens,
        ${sql.raw(LEDGER_QUANTITIES.spend.ofRow)} as spend
      from requests
      where organization_id = ${organizationId}
        and request_id >= ${smallestUuidAt(fromMs)}::uuid and request_id < ${smallestUuidAt(toMs)}::uuid
      limit ${sql.lit(ROWS_MAX + 1)}) as edge`.execute(db);
  const [sums] = rows;
  return sums === undefined || sums.seen > ROWS_MAX ? null : sums;
}

async function readFailed(
  db: Kysely<Database>,
  organizationId: string,
  startMs: number,
): Promise<{ fallbacks: number; unmetered: number }> {
  const { rows } = await sql<{ fallbacks: number; unmetered: number }>`
    select coalesce(sum(fallbacks), 0)::bigint as fallbacks,
      coalesce(sum(requests_completed + requests_failed + requests_cancelled - requests_metered), 0)::bigint as unmetered
    from request_rollups
    where organization_id = ${organizationId} and family = 'resource'
      and bucket = ${sql.lit(startMs % DAY_MS === 0 ? 'day' : 'hour')}
      and bucket_start >= ${new Date(startMs)}`.execute(db);
  return rows[0] ?? { fallbacks: 0, unmetered: 0 };
}

/** Further attempts at the same endpoint, which are no fallbacks and in no rollup: those of the window's newest requests. */
async function readRepeats(db: Kysely<Database>, organizationId: string, startMs: number): Promise<number> {
  const { rows } = await sql<{ repeats: number }>`
    select coalesce(sum(greatest(0, jsonb_array_length(attempts) - 1 - fallback_count)), 0)::bigint as repeats
    from (select attempts, fallback_count from requests
      where organization_id = ${organizationId} and request_id >= ${smallestUuidAt(startMs)}::uuid
      order by request_id desc limit ${sql.lit(ROWS_MAX)}) as newest`.execute(db);
  return rows[0]?.repeats ?? 0;
}
