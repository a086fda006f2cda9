import type { Kysely } from 'kysely';
import { alertFields } from '../domain/alert-message.ts';
import { backoffMs } from '../kit/backoff.ts';
import type { Log } from '../kit/log.ts';
import {
  type ClaimedDeliveries,
  type ClaimedDelivery,
  claimDeliveries,
  type DeliveryEnd,
  endDelivery,
} from '../store/alerts/alert-deliveries.ts';
import type { Database } from '../store/postgres/schema.ts';
import { limitSubject } from './limit-subject.ts';
import { type SendDeps, sendAlert } from './send-alert.ts';

const WITHIN_MS = 10_000;
/** Longer than an attempt takes. */
const LEASE_MS = 15_000;
const MAIL_LEASE_MS = 300_000;
const PER_DESTINATION_MAX = 8;
const SENDING_MAX = 128;
const GIVE_UP_MS = 3 * 86_400_000;
const RETRY = { minMs: 1_000, maxMs: 1_800_000 };
/** A receiver that takes other messages is asked again soon this often before the message itself is to blame. */
const SOON_TRIES = 20;
const FAILING_MAX = 10_000;

export interface DeliverDeps extends SendDeps {
  readonly db: Kysely<Database>;
  readonly log: Log;
  readonly random: () => number;
  readonly withinMs?: number;
}

export interface DeliverAlerts {
  /** Starts what is due, and returns to how many destinations. */
  start(): Promise<number>;
  /** What this process is sending, by destination; each is fulfilled when it is over. */
  busy(): readonly Promise<void>[];
}

/**
 * Delivers alerts from the outbox. A delivery is claimed before it is sent and ended afterwards: a killed worker leaves a claim that
 * expires, and the next attempt carries the same id. A destination gets its next deliveries when the ones before are over, so a slow receiver
 * holds a few places and no one else up.
 */
export function createDeliverAlerts(deps: DeliverDeps): DeliverAlerts {
  const failing = createFailing();
  const busy = new Map<string, Promise<void>>();
  let sending = 0;

  async function deliverAll({ destination, organizationName, deliveries }: ClaimedDeliveries): Promise<void> {
    const organization = { id: destination.organization_id, name: organizationName };
    await Promise.all(
      deliveries.map(async (delivery) => {
        const end = destination.enabled
          ? await attempt(deps, failing, destination, delivery, organization)
          : ({ state: 'dead', status: null, error: 'The destination is disabled.' } as const);
        await endDelivery(deps.db, delivery.event, destination.id, end);
      }),
    );
  }

  function send(claimed: ClaimedDeliveries): void {
    const { id } = claimed.destination;
    const count = claimed.deliveries.length;
    sending += count;
    const over = deliverAll(claimed)
      // The claim expires, and the delivery is made again.
      .catch((error: unknown) =>
        deps.log.warn({ err: error }, 'could not record the result of an alert delivery'),
      )
      .finally(() => {
        sending -= count;
        busy.delete(id);
      });
    busy.set(id, over);
  }

  return {
    async start() {
      let started = 0;
      for (let found = 1; found > 0 && sending < SENDING_MAX; started += found) {
        const claimed = await claimDeliveries(deps.db, {
          leaseMs: LEASE_MS,
          mailLeaseMs: MAIL_LEASE_MS,
          perDestinationMax: PER_DESTINATION_MAX,
          max: SENDING_MAX - sending,
          busyIds: [...busy.keys()],
        });
        for (const each of claimed) send(each);
        found = claimed.length;
      }
      return started;
    },
    busy: () => [...busy.values()],
  };
}

async function attempt(
  deps: DeliverDeps,
  failing: Failing,
  destination: ClaimedDeliveries['destination'],
  { event, attempts, ageMs }: ClaimedDelivery,
  organization: { readonly id: string; readonly name: string },
): Promise<DeliveryEnd> {
  const subject = destination.kind === 'mail' ? await limitSubject(deps.db, event) : '';
  const message = { ...alertFields(event), organization };
  const { failure, status } = await sendAlert(
    deps,
    destination,
    { message, subject },
    deps.withinMs ?? WITHIN_MS,
  );
  if (failure === null) {
    failing.succeeded(destination.id);
    return { state: 'delivered', status };
  }
  const { error } = failure;
  const streak = failing.failed(destination.id);
  if (ageMs > GIVE_UP_MS) {
    deps.log.warn(
      { organization_id: organization.id, destination_id: destination.id, event_id: event.id },
      'could not deliver an alert within 3 days; giving up',
    );
    return { state: 'dead', status, error };
  }
  const failures = Math.min(attempts, Math.max(streak, attempts - SOON_TRIES));
  return { state: 'pending', status, error, delayMs: backoffMs(RETRY, failures - 1, deps.random) };
}

interface Failing {
  /** Returns how often in a row. */
  failed(destinationId: string): number;
  succeeded(destinationId: string): void;
}

/** How often each destination has failed in a row, as far as this process knows. */
function createFailing(): Failing {
  const counts = new Map<string, number>();
  return {
    failed(id) {
      const count = (counts.get(id) ?? 0) + 1;
      if (counts.size >= FAILING_MAX) counts.clear();
      counts.set(id, count);
      return count;
    },
    succeeded: (id) => void counts.delete(id),
  };
}
