import type { Kysely } from 'kysely';
import type { AlertEventRow } from '../../store/alerts/alert-events.ts';
import type { Database } from '../../store/postgres/schema.ts';

export type EventRow = AlertEventRow;
export type DeliveryRow = Awaited<ReturnType<typeof readDeliveries>>[number];

export interface AlertSearch {
  readonly organizationId: string;
  readonly policyId: string | undefined;
  /** The page starts before this id. */
  readonly beforeId: string | undefined;
  readonly limit: number;
}

/** Newest first. */
export function readAlerts(db: Kysely<Database>, search: AlertSearch): Promise<EventRow[]> {
  const { organizationId, policyId, beforeId, limit } = search;
  return db
    .selectFrom('alert_events')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .$if(policyId !== undefined, (query) => query.where('policy_id', '=', policyId ?? ''))
    .$if(beforeId !== undefined, (query) => query.where('id', '<', beforeId ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

export function readDeliveries(db: Kysely<Database>, organizationId: string, eventIds: readonly string[]) {
  return db
    .selectFrom('alert_deliveries as delivery')
    .innerJoin('alert_destinations as destination', (join) =>
      join
        .onRef('destination.organization_id', '=', 'delivery.organization_id')
        .onRef('destination.id', '=', 'delivery.destination_id'),
    )
    .selectAll('delivery')
    .select(['destination.name', 'destination.kind'])
    .where('delivery.organization_id', '=', organizationId)
    .where('delivery.event_id', 'in', [...eventIds])
    .orderBy('delivery.destination_id')
    .execute();
}
