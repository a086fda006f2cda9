import { type Kysely, sql, type Transaction } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import { type BillingEvent, type Fact, paymentOf } from './billing-fact.ts';

/** The outcome of an event. */
export interface Settled {
  readonly outcome: 'applied' | 'outdated' | 'duplicate' | 'kept' | 'ignored';
  readonly organizationId: string | null;
  /** The customer, payment or product it waits for. */
  readonly waitsFor: string | null;
  /** The version to raise the organization's fence to; null when the plan did not change. */
  readonly configVersion: number | null;
}

/** Longer than Stripe redelivers events: 3 days automatically, 30 days on request. */
const KEPT_DAYS = 90;
/** Each new event removes up to two old ones, so the table stops growing after the retention period. */
const REMOVED_MAX = 2;

/**
 * Locks the customer, payment or product until commit. Otherwise the event that identifies the organization
 * could arrive after the lookup and before this event is stored as waiting for it.
 */
export async function lockReferences(tx: Transaction<Database>, fact: Fact): Promise<void> {
  // A fixed order prevents deadlocks between concurrent events.
  const references = [...new Map(referencesOf(fact)).entries()].sort(([one], [other]) =>
    one < other ? -1 : 1,
  );
  for (const [reference, shared] of references) {
    const lock = sql.raw(shared ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock');
    await sql`select ${lock}(hashtextextended(${`relay billing ${reference}`}, 0))`.execute(tx);
  }
}

/**
 * The objects a fact is about or depends on. Subscriptions share the lock on a product, because they only read
 * it.
 */
function referencesOf(fact: Fact): [reference: string, shared: boolean][] {
  if (fact.kind === 'product') return [[fact.productId, false]];
  const references: [string, boolean][] = [];
  if (fact.customerId !== null) references.push([fact.customerId, false]);
  if (fact.kind === 'billing_payments') references.push([fact.row.id, false]);
  const paymentId = paymentOf(fact);
  if (paymentId !== null) references.push([paymentId, false]);
  if (fact.kind === 'subscription')
    for (const product of fact.row.product_ids) references.push([product, true]);
  return references;
}

/**
 * Inserts the event and returns null. For an event that was received before, returns its recorded outcome.
 */
export async function claimEvent(
  tx: Transaction<Database>,
  event: BillingEvent,
): Promise<Pick<Settled, 'organizationId' | 'configVersion'> | null> {
  const { id, type, at } = event;
  const claimed = await tx
    .insertInto('billing_events')
    .values({ id, type, created_at: at })
    .onConflict((clash) => clash.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (claimed !== undefined) return null;
  const known = await tx
    .selectFrom('billing_events')
    .select(['organization_id', 'config_version'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return { organizationId: known.organization_id, configVersion: known.config_version };
}

/** Locks a waiting event, so that it is released once. Null when it no longer waits. */
export async function takeWaiting(tx: Transaction<Database>, id: string): Promise<BillingEvent | null> {
  const row = await tx
    .selectFrom('billing_events')
    .select(['id', 'type', 'created_at', 'fact'])
    .where('id', '=', id)
    .where('waits_for', 'is not', null)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) return null;
  return { id: row.id, type: row.type, at: row.created_at.toISOString(), fact: row.fact as Fact };
}

export async function recordOutcome(
  tx: Transaction<Database>,
  event: BillingEvent,
  { organizationId, waitsFor, configVersion }: Settled,
): Promise<void> {
  await tx
    .updateTable('billing_events')
    .set({
      organization_id: organizationId,
      waits_for: waitsFor,
      fact: waitsFor === null ? null : JSON.stringify(event.fact),
      config_version: configVersion,
    })
    .where('id', '=', event.id)
    .execute();
}

/** Events that wait for any of these references, oldest first. */
export function listWaiting(
  db: Kysely<Database>,
  references: readonly string[],
  eventsMax: number,
): Promise<{ id: string; fact: unknown }[]> {
  return db
    .selectFrom('billing_events')
    .select(['id', 'fact'])
    .where('waits_for', 'in', [...references])
    .orderBy('created_at')
    .orderBy('id')
    .limit(eventsMax)
    .execute();
}

export async function removeOldEvents(db: Kysely<Database>): Promise<void> {
  await sql`
    delete from billing_events where id in (
      select id from billing_events where received_at < now() - ${`${KEPT_DAYS} days`}::interval
      order by received_at limit ${REMOVED_MAX} for update skip locked)`.execute(db);
}
