import { type Kysely, sql } from 'kysely';
import type { Quantity } from '../../../domain/limits/metric.ts';
import { smallestUuidAt } from '../../../kit/uuid-time.ts';
import type { Database } from '../../postgres/schema.ts';
import { mayReach, sentAttemptsOf } from '../attempts-of-row.ts';
import { LEDGER_QUANTITIES } from './ledger-quantities.ts';

/** The most that a live window may differ from the ledger's sums, in either direction, if nothing was lost. */
export type WindowEdge = Readonly<Record<Quantity, number>>;

/** Requests that began longer before the window are ignored. */
const LOOK_BACK_MS = 3_600_000;
/** How far the clocks of gateways and Redis may differ. */
const CLOCKS_MS = 5_000;
const ROWS_MAX = 20_000;

/**
 * The attempts that were dispatched so close to the window's start that the clock of Redis may have had them on its other side. Null when
 * there are too many requests around the start to read.
 */
export async function readWindowEdge(
  db: Kysely<Database>,
  organizationId: string,
  startMs: number,
): Promise<WindowEdge | null> {
  const [fromMs, toMs] = [startMs - CLOCKS_MS, startMs + CLOCKS_MS];
  const { requests, tokens, spend } = LEDGER_QUANTITIES;
  const sum = ({ ofAttempt }: typeof tokens) => sql`coalesce(sum(${sql.raw(ofAttempt)}), 0)::bigint`;
  const { rows } = await sql<WindowEdge & { seen: number }>`
    with near as (
      select * from requests
      where organization_id = ${organizationId}
        and request_id >= ${smallestUuidAt(startMs - LOOK_BACK_MS)}::uuid and request_id < ${smallestUuidAt(toMs)}::uuid
        and ${mayReach('requests', fromMs)}
      limit ${sql.lit(ROWS_MAX + 1)})
    select (select count(*) from near)::int as seen,
      ${sum(requests)} as requests, ${sum(tokens)} as tokens, ${sum(spend)} as spend
    from near as request cross join lateral ${sentAttemptsOf('request')} as sent
    where sent.dispatched_ms between ${fromMs} and ${toMs}`.execute(db);
  const [edge] = rows;
  return edge === undefined || edge.seen > ROWS_MAX ? null : edge;
}
