import type { Alert, AlertDestination } from '@relay/contract';
import { alertFields } from '../../domain/alert-message.ts';
import { toAlertEvent } from '../../store/alerts/alert-events.ts';
import type { Row } from '../resources/rows.ts';
import type { DeliveryRow, EventRow } from './queries.ts';

/** Never includes the secret, sealed or not: it is write-only. */
export function toDestination(row: Row<'alert_destinations'>): AlertDestination {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    url: row.url,
    address: row.address,
    enabled: row.enabled,
    created_at: row.created_at.toISOString(),
  };
}

export function toAlert(row: EventRow, deliveries: readonly DeliveryRow[]): Alert {
  return { ...alertFields(toAlertEvent(row)), deliveries: deliveries.map(toDelivery) };
}

function toDelivery(row: DeliveryRow): Alert['deliveries'][number] {
  return {
    destination_id: row.destination_id,
    destination_name: row.name,
    kind: row.kind,
    state: row.state,
    attempts: row.attempts,
    last_status: row.last_status,
    last_error: row.last_error,
    next_attempt_at: row.state === 'pending' ? row.next_at.toISOString() : null,
    delivered_at: row.delivered_at?.toISOString() ?? null,
  };
}
