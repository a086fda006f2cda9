import type { LimitMetric } from '@relay/contract';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { CountedRequests } from '../../../domain/limits/limit.ts';
import { METRICS } from '../../../domain/limits/metric.ts';
import { smallestUuidAt } from '../../../kit/uuid-time.ts';
import type { Database } from '../../postgres/schema.ts';
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

const SCOPE_COLUMNS = {
  global: null,
  provider: 'provider_id',
  credential: 'credential_id',
  endpoint: 'endpoint_id',
  model: 'endpoint_id',
  lane: 'lane_id',
} as const satisfies Record<CountedRequests['scopeType'], string | null>;

/**
 * The ledger's usage of each window, in the order given. A calendar window begins with a bucket, so its rollups are exact;
 * any other window is counted from rows.
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

function sumOf(organizationId: string, { metric, counts, startMs, endMs }: UsageWindow): RawBuilder<unknown> {
  const { ofRow, ofRollup } = LEDGER_QUANTITIES[METRICS[metric].quantity];
  const conditions = conditionsOf(organizationId, counts);
  const column = SCOPE_COLUMNS[counts.scopeType];
  const ofCaller = counts.userId !== null || counts.keyId !== null;
  // The sums of a day hold more than the first of its hours.
  const isOf = (bucketMs: number) => startMs % bucketMs === 0 && (endMs ?? 0) % bucketMs === 0;
  const bucket = isOf(DAY_MS) ? 'day' : isOf(HOUR_MS) ? 'hour' : null;
  // Rollups of the `caller` family have no credential.
  if (bucket === null || (ofCaller && column === 'credential_id')) {
    conditions.push(sql`request_id >= ${smallestUuidAt(startMs)}::uuid`, sql`usage_source <> 'none'`);
    if (endMs !== undefined) conditions.push(sql`request_id < ${smallestUuidAt(endMs)}::uuid`);
    return sql`(select sum(${sql.raw(ofRow)}) from requests where ${sql.join(conditions, sql` and `)})`;
  }
  conditions.push(sql`bucket = ${sql.lit(bucket)}`, sql`bucket_start >= ${new Date(startMs)}`);
  if (endMs !== undefined) conditions.push(sql`bucket_start < ${new Date(endMs)}`);
  const ofTeam = counts.teamId !== undefined;
  if (!ofTeam) conditions.push(sql`family = ${sql.lit(ofCaller ? 'caller' : 'resource')}`);
  const rollups = sql.table(ofTeam ? 'attributed_rollups' : 'request_rollups');
  return sql`(select sum(${sql.raw(ofRollup)}) from ${rollups} where ${sql.join(conditions, sql` and `)})`;
}

/** Which ledger rows or rollups are counted, at any time. */
export function conditionsOf(organizationId: string, counts: CountedRequests): RawBuilder<unknown>[] {
  const conditions = [sql`organization_id = ${organizationId}`];
  if (counts.userId !== null) conditions.push(sql`user_id = ${counts.userId}`);
  if (counts.keyId !== null) conditions.push(sql`key_id = ${counts.keyId}`);
  const { teamId } = counts;
  if (teamId !== undefined) conditions.push(sql`(team_id = ${teamId} or parent_team_id = ${teamId})`);
  const column = SCOPE_COLUMNS[counts.scopeType];
  if (column !== null) conditions.push(sql`${sql.ref(column)} = ${counts.scopeId}`);
  return conditions;
}
