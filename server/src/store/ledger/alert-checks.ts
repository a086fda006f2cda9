import { type RawBuilder, sql } from 'kysely';
import { hasAlerts } from '../postgres/policy-tables.ts';
import { attemptsOfRow } from './attempts-of-row.ts';
import type { CountedRow } from './ledger-row.ts';
import { bucketStart } from './rollups/bucket.ts';

/**
 * Notes which organizations with alerts have new usage: of whom and of what, and in which hours. Written with the rows, so that no kill loses
 * it. Undefined when nothing was sent.
 */
export function addAlertChecks(rows: readonly CountedRow[]): RawBuilder<unknown> | undefined {
  const used = new Map<string, { organization: string; subject: string | null; hourMs: number }>();
  for (const row of rows) {
    const { user_id, key_id, team_id, parent_team_id, lane_id } = row;
    for (const { dispatched_ms, endpoint_id, provider_id, credential_id } of attemptsOfRow(row)) {
      const hourMs = bucketStart('hour', dispatched_ms);
      const callers = [user_id, key_id, team_id, parent_team_id];
      for (const subject of [...callers, lane_id, endpoint_id, provider_id, credential_id])
        used.set(`${row.organization_id}${subject}${hourMs}`, {
          organization: row.organization_id,
          subject,
          hourMs,
        });
    }
  }
  if (used.size === 0) return undefined;
  const found = [...used.values()];
  return sql`insert into alert_checks (organization_id, subject_ids, times_ms)
    select organization_id, array_remove(array_agg(distinct subject_id), null), array_agg(distinct hour_ms)
    from unnest(${found.map(({ organization }) => organization)}::uuid[], ${found.map(({ subject }) => subject)}::uuid[],
      ${found.map(({ hourMs }) => hourMs)}::bigint[]) as used (organization_id, subject_id, hour_ms)
    where ${hasAlerts(sql`used.organization_id`)}
    group by organization_id`;
}
