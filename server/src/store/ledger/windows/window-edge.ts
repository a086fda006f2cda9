import { type Kysely, sql } from 'kysely';
import type { Quantity } from '../../../domain/limits/metric.ts';
import { smallestUuidAt } from '../../../kit/uuid-time.ts';
import type { Database } from '../../postgres/schema.ts';
import { LEDGER_QUANTITIES } from './ledger-quantities.ts';

type Amounts = Readonly<Record<Quantity, number>>;

/** How much a live window may differ from the ledger's sums without any loss. */
export interface WindowEdge {
  /** Live counts may be higher by this much. */
  readonly above: Amounts;
  /** Live counts may be lower by this much. */
  readonly below: Amounts;
}

/** Requests that began longer before the window are ignored. */
const LOOK_BACK_MS = 3_600_000;
/** How far the clocks of gateways and Redis may differ. */
const CLOCKS_MS = 5_000;
const ROWS_MAX = 20_000;

/**
 * The ledger counts a request at its arrival, live windows at its dispatch: one that crossed the window's start may be in one and not in
 * the other. Null when there are too many at the start to read.
 */
export async function readWindowEdge(
  db: Kysely<Database>,
  organizationId: string,
  startMs: number,
): Promise<WindowEdge | null> {
  const above = await sumRows(db, organizationId, startMs, startMs - LOOK_BACK_MS, startMs);
  const below = await sumRows(db, organizationId, startMs, startMs, startMs + CLOCKS_MS);
  return above === null || below === null ? null : { above, below };
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
