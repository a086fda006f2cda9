import { type Kysely, type Selectable, sql } from 'kysely';
import type { AlertEvent } from '../../domain/alert-message.ts';
import type { Database } from '../postgres/schema.ts';
import { type AlertEventRow, toAlertEvent } from './alert-events.ts';

/** Of the oldest, one claim sees these. What it takes makes their destinations busy, so that the next claim sees others. */
const LOOKED_AT_MAX = 500;

export type AlertDestinationRow = Selectable<Database['alert_destinations']>;

/** Deliveries to one destination that this process makes now. */
export interface ClaimedDeliveries {
  readonly destination: AlertDestinationRow;
  readonly organizationName: string;
  readonly deliveries: readonly ClaimedDelivery[];
}

export interface ClaimedDelivery {
  readonly event: AlertEvent;
  /** With this one. */
  readonly attempts: number;
  readonly ageMs: number;
}

export interface ClaimOptions {
  /** How long the claim holds. A delivery whose worker was killed is due again then. */
  readonly leaseMs: number;
  /** The same for mail, which may have to wait for a connection of its pool. */
  readonly mailLeaseMs: number;
  readonly perDestinationMax: number;
  readonly max: number;
  /** Destinations that this process is sending to already. */
  readonly busyIds: readonly string[];
}

/** Takes deliveries that are due, the oldest first and a few of each destination. Other processes skip what one takes. */
export async function claimDeliveries(
  db: Kysely<Database>,
  { leaseMs, mailLeaseMs, perDestinationMax, max, busyIds }: ClaimOptions,
): Promise<ClaimedDeliveries[]> {
  const { rows } = await sql<{ destination_id: string; event_id: string; attempts: number; age_ms: number }>`
    with due as (
      select organization_id, event_id, destination_id, next_at from alert_deliveries
      where state = 'pending' and next_at <= now() and destination_id <> all (${busyIds}::uuid[])
      order by next_at limit ${sql.lit(LOOKED_AT_MAX)} for update skip locked
    ), ranked as (
      select *, row_number() over (partition by destination_id order by next_at) as place from due
    ), chosen as (
      select * from ranked where place <= ${perDestinationMax} order by next_at limit ${max}
    )
    update alert_deliveries as taken
    set attempts = taken.attempts + 1, next_at = now() + make_interval(
      secs => case destination.kind when 'mail' then ${mailLeaseMs / 1_000}::float8 else ${leaseMs / 1_000}::float8 end)
    from chosen
      join alert_destinations as destination
        on (destination.organization_id, destination.id) = (chosen.organization_id, chosen.destination_id)
    where (taken.organization_id, taken.event_id, taken.destination_id)
      = (chosen.organization_id, chosen.event_id, chosen.destination_id)
    returning taken.destination_id, taken.event_id, taken.attempts,
      (extract(epoch from now() - taken.created_at) * 1000)::float8 as age_ms`.execute(db);
  if (rows.length === 0) return [];
  const [destinations, events] = [await destinationsOf(db, rows), await eventsOf(db, rows)];
  return destinations.map(({ organization_name, ...destination }) => ({
    destination,
    organizationName: organization_name,
    deliveries: rows.flatMap(({ destination_id, event_id, attempts, age_ms }) => {
      const event = events.get(event_id);
      return destination_id === destination.id && event !== undefined
        ? [{ event: toAlertEvent(event), attempts, ageMs: age_ms }]
        : [];
    }),
  }));
}

function destinationsOf(db: Kysely<Database>, rows: readonly { destination_id: string }[]) {
  return db
    .selectFrom('alert_destinations')
    .innerJoin('organizations', 'organizations.id', 'alert_destinations.organization_id')
    .selectAll('alert_destinations')
    .select('organizations.name as organization_name')
    .where('alert_destinations.id', 'in', [...new Set(rows.map(({ destination_id }) => destination_id))])
    .execute();
}

async function eventsOf(
  db: Kysely<Database>,
  rows: readonly { event_id: string }[],
): Promise<ReadonlyMap<string, AlertEventRow>> {
  const ids = [...new Set(rows.map(({ event_id }) => event_id))];
  const found = await db.selectFrom('alert_events').selectAll().where('id', 'in', ids).execute();
  return new Map(found.map((row) => [row.id, row]));
}

/** How an attempt ended. */
export type DeliveryEnd =
  | { readonly state: 'delivered'; readonly status: number | null }
  | { readonly state: 'dead'; readonly status: number | null; readonly error: string }
  | {
      readonly state: 'pending';
      readonly status: number | null;
      readonly error: string;
      readonly delayMs: number;
    };

/** A delivery that another worker has brought to its end meanwhile stays as it is. */
export async function endDelivery(
  db: Kysely<Database>,
  { organizationId, id: eventId }: Pick<AlertEvent, 'organizationId' | 'id'>,
  destinationId: string,
  end: DeliveryEnd,
): Promise<void> {
  const { state, status } = end;
  await db
    .updateTable('alert_deliveries')
    .set({
      state,
      last_status: status,
      last_error: end.state === 'delivered' ? null : end.error,
      ...(end.state === 'delivered' && { delivered_at: sql`now()` }),
      ...(end.state === 'pending' && {
        next_at: sql`now() + make_interval(secs => ${end.delayMs / 1_000})`,
      }),
    })
    .where('organization_id', '=', organizationId)
    .where('event_id', '=', eventId)
    .where('destination_id', '=', destinationId)
    .where('state', '=', 'pending')
    .execute();
}
