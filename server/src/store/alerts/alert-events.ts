import { type Kysely, type Selectable, sql } from 'kysely';
import type { AlertEvent } from '../../domain/alert-message.ts';
import { rowArrays } from '../postgres/row-arrays.ts';
import { columnsOf, type Database } from '../postgres/schema.ts';

export type AlertEventRow = Selectable<Database['alert_events']>;

const COLUMNS = columnsOf('alert_events').filter((column) => column !== 'created_at');

/**
 * Writes the alerts of an organization that do not exist yet, with a delivery for each enabled destination, and returns how many were
 * new. All writers send them in one order, so they wait for each other and never deadlock.
 */
export async function addAlertEvents(
  tx: Kysely<Database>,
  organizationId: string,
  events: readonly Omit<AlertEventRow, 'created_at'>[],
): Promise<number> {
  if (events.length === 0) return 0;
  const { columns, select } = rowArrays('alert_events', COLUMNS, events);
  const { rows } = await sql<{ id: string }>`insert into alert_events (${columns}) ${select}
    on conflict (organization_id, policy_id, window_start, kind, threshold_percent) do nothing
    returning id`.execute(tx);
  if (rows.length === 0) return 0;
  await sql`insert into alert_deliveries (organization_id, event_id, destination_id)
    select ${organizationId}::uuid, event.id, destination.id
    from unnest(${rows.map(({ id }) => id)}::uuid[]) as event (id),
      alert_destinations as destination
    where destination.organization_id = ${organizationId} and destination.enabled`.execute(tx);
  return rows.length;
}

export function toAlertEvent(row: AlertEventRow): AlertEvent {
  return {
    id: row.id,
    organizationId: row.organization_id,
    kind: row.kind,
    policy: {
      id: row.policy_id,
      policy_kind: row.policy_kind,
      subject_id: row.subject_id,
      scope_type: row.scope_type,
      scope_id: row.scope_id,
      metric: row.metric,
      period: row.period,
    },
    limit: row.limit_value,
    used: row.used,
    windowStart: row.window_start,
    windowEnd: row.window_end,
    thresholdPercent: row.threshold_percent,
    forecastExhaustedAt: row.forecast_exhausted_at,
    createdAt: row.created_at,
  };
}
