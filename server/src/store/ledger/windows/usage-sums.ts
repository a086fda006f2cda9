import type { LimitMetric } from '@relay/contract';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { CountedRequests } from '../../../domain/limits/limit.ts';
import { METRICS } from '../../../domain/limits/metric.ts';
import { smallestUuidAt } from '../../../kit/uuid-time.ts';
import type { Database } from '../../postgres/schema.ts';
import { mayReach, REQUEST_MS_MAX, sentAttemptsOf } from '../attempts-of-row.ts';
import { LEDGER_QUANTITIES } from './ledger-quantities.ts';

/** One window of one limit: what it counts, and since when. */
export interface UsageWindow {
  readonly metric: LimitMetric;
  readonly counts: CountedRequests;
  readonly startMs: number;
  /** Left out: everything since the start. */
  readonly endMs?: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

type ScopeType = CountedRequests['scopeType'];

/** Columns of a request and of its rollups. */
const REQUEST_SCOPES: Partial<Record<ScopeType, string>> = { lane: 'lane_id' };
/** Columns of each attempt and of rollups. */
const ATTEMPT_SCOPES: Partial<Record<ScopeType, string>> = {
  provider: 'provider_id',
  credential: 'credential_id',
  endpoint: 'endpoint_id',
  model: 'endpoint_id',
};

/**
 * The ledger's usage of each window, in the order given: of attempts that were dispatched in it. A calendar window begins with a bucket, so
 * its rollups are exact; any other window is counted from rows.
 */
export async function sumUsage(
  db: Kysely<Database>,
  organizationId: string,
  windows: readonly UsageWindow[],
): Promise<number[]> {
  if (windows.length === 0) return [];
  const sums = windows.map((window) => sumOf(organizationId, window));
  const { rows } = await sql<{ amounts: (string | null)[] }>`
    select array[${sql.join(sums)}]::text[] as amounts`.execute(db);
  return windows.map((_, index) => Number(rows[0]?.amounts[index] ?? 0));
}

function sumOf(organizationId: string, window: UsageWindow): RawBuilder<unknown> {
  const { counts, startMs, endMs } = window;
  const ofCaller = counts.userId !== null || counts.keyId !== null;
  // The sums of a day hold more than the first of its hours.
  const isOf = (bucketMs: number) => startMs % bucketMs === 0 && (endMs ?? 0) % bucketMs === 0;
  const bucket = isOf(DAY_MS) ? 'day' : isOf(HOUR_MS) ? 'hour' : null;
  // Rollups of the `caller` family and of teams have no credential.
  const isOfTwo = (ofCaller || counts.teamId !== undefined) && counts.scopeType === 'credential';
  if (bucket === null || isOfTwo) return sumOfRows(organizationId, window);
  const { ofRollup } = LEDGER_QUANTITIES[METRICS[window.metric].quantity];
  const conditions = conditionsOf('rollup', 'rollup', organizationId, counts);
  conditions.push(sql`rollup.bucket = ${sql.lit(bucket)}`, sql`rollup.bucket_start >= ${new Date(startMs)}`);
  if (endMs !== undefined) conditions.push(sql`rollup.bucket_start < ${new Date(endMs)}`);
  const ofTeam = counts.teamId !== undefined;
  if (!ofTeam) conditions.push(sql`rollup.family = ${sql.lit(ofCaller ? 'caller' : 'resource')}`);
  const rollups = sql.table(ofTeam ? 'attributed_rollups' : 'request_rollups');
  return sql`(select sum(${sql.raw(ofRollup)}) from ${rollups} as rollup where ${sql.join(conditions, sql` and `)})`;
}

/** A request that arrived before the window may have been sent in it. */
function sumOfRows(
  organizationId: string,
  { metric, counts, startMs, endMs }: UsageWindow,
): RawBuilder<unknown> {
  const { ofAttempt } = LEDGER_QUANTITIES[METRICS[metric].quantity];
  const conditions = conditionsOf('request', 'sent', organizationId, counts);
  conditions.push(
    sql`request.request_id >= ${smallestUuidAt(startMs - REQUEST_MS_MAX)}::uuid`,
    sql`(request.request_id >= ${smallestUuidAt(startMs)}::uuid or ${mayReach('request', startMs)})`,
    sql`sent.dispatched_ms >= ${startMs}`,
  );
  if (endMs !== undefined)
    conditions.push(
      sql`request.request_id < ${smallestUuidAt(endMs)}::uuid`,
      sql`sent.dispatched_ms < ${endMs}`,
    );
  return sql`(select sum(${sql.raw(ofAttempt)}) from requests as request
    cross join lateral ${sentAttemptsOf('request')} as sent where ${sql.join(conditions, sql` and `)})`;
}

/** Returns the conditions for the counted attempts, without a time. `request` and `attempt` are aliases; for rollups both are the same. */
export function conditionsOf(
  request: string,
  attempt: string,
  organizationId: string,
  counts: CountedRequests,
): RawBuilder<unknown>[] {
  const { userId, keyId, teamId, scopeType, scopeId } = counts;
  const of = (column: string) => sql.ref(`${request}.${column}`);
  const conditions = [sql`${of('organization_id')} = ${organizationId}`];
  if (userId !== null) conditions.push(sql`${of('user_id')} = ${userId}`);
  if (keyId !== null) conditions.push(sql`${of('key_id')} = ${keyId}`);
  if (teamId !== undefined)
    conditions.push(sql`(${of('team_id')} = ${teamId} or ${of('parent_team_id')} = ${teamId})`);
  const [requestColumn, attemptColumn] = [REQUEST_SCOPES[scopeType], ATTEMPT_SCOPES[scopeType]];
  if (requestColumn !== undefined) conditions.push(sql`${of(requestColumn)} = ${scopeId}`);
  if (attemptColumn !== undefined)
    conditions.push(sql`${sql.ref(`${attempt}.${attemptColumn}`)} = ${scopeId}`);
  return conditions;
}
