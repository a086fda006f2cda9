import { sql, type Transaction } from 'kysely';
import type { PlanName } from '../../domain/access.ts';
import type { Database } from '../../store/postgres/schema.ts';
import {
  type BilledTable,
  type BillingEvent,
  type Fact,
  type LinkFact,
  type ProductFact,
  paymentOf,
  type SubscriptionFact,
} from './billing-fact.ts';
import { currentPlan, subscribedPlan } from './organization-plan.ts';
import { statusRank } from './status-rank.ts';

export type Applied =
  /** The event waits for this customer, payment or product, which identifies its organization or plan. */
  | { readonly waitsFor: string; readonly organizationId: string | null }
  | {
      readonly waitsFor: null;
      readonly outcome: 'applied' | 'outdated' | 'ignored';
      readonly organizationId: string | null;
      readonly planChange: { readonly from: string; readonly to: PlanName } | null;
    };

type AnyBilledFact = Exclude<Fact, LinkFact | SubscriptionFact | ProductFact>;
type About<F extends Fact> = Omit<BillingEvent, 'fact'> & { readonly fact: F };

/**
 * Writes the rows that follow from an event. Does not change the organization's plan: the caller does so last.
 */
export async function applyFact(tx: Transaction<Database>, event: BillingEvent): Promise<Applied> {
  const { fact } = event;
  switch (fact.kind) {
    case 'link':
      return applyLink(tx, { ...event, fact });
    case 'product':
      return applyProduct(tx, { ...event, fact });
    case 'subscription':
      return applySubscription(tx, { ...event, fact });
    default:
      return applyBilled(tx, { ...event, fact });
  }
}

async function applyLink(tx: Transaction<Database>, event: About<LinkFact>): Promise<Applied> {
  const { customerId, organizationId, activity, subscriptionId } = event.fact;
  let owner = await ownerOf(tx, event.fact);
  const linked = owner === null && organizationId !== null && (await link(tx, customerId, organizationId));
  if (linked) owner = organizationId;
  if (owner === null) {
    // Waiting does not help when the organization is deleted or already has another customer.
    return organizationId === null ? waiting(customerId) : done('ignored', null);
  }
  // A customer never moves to another organization.
  if (organizationId !== null && owner !== organizationId) return done('ignored', null);
  if (linked || activity === 'checkout.completed')
    await addActivity(tx, { ...event, organizationId: owner, activity, subscriptionId, status: null });
  return done('applied', owner);
}

async function link(tx: Transaction<Database>, customerId: string, organizationId: string): Promise<boolean> {
  const updated = await tx
    .updateTable('organizations')
    .set({ stripe_customer_id: customerId })
    .where('id', '=', organizationId)
    .where('stripe_customer_id', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return updated !== undefined;
}

async function applyProduct(tx: Transaction<Database>, event: About<ProductFact>): Promise<Applied> {
  const { productId, plan } = event.fact;
  const row = { id: productId, plan, event_at: event.at };
  const written = await tx
    .insertInto('billing_products')
    .values(row)
    .onConflict((clash) =>
      clash.column('id').doUpdateSet(row).where('billing_products.event_at', '<=', new Date(event.at)),
    )
    .returning('id')
    .executeTakeFirst();
  return done(written === undefined ? 'outdated' : 'applied', null);
}

async function applyBilled(tx: Transaction<Database>, event: About<AnyBilledFact>): Promise<Applied> {
  const { fact, at } = event;
  const owner = await ownerOf(tx, fact);
  if (owner === null) return waiting(fact.customerId ?? paymentOf(fact) ?? '');
  const newer = await upsertNewer(tx, fact.kind, {
    ...fact.row,
    organization_id: owner,
    event_at: at,
    status_rank: statusRank(fact.kind, fact.row.status),
  });
  return done(newer ? 'applied' : 'outdated', owner);
}

async function applySubscription(
  tx: Transaction<Database>,
  event: About<SubscriptionFact>,
): Promise<Applied> {
  const { fact, at } = event;
  const { activity, row } = fact;
  const owner = await ownerOf(tx, fact);
  if (owner === null) return waiting(fact.customerId);
  const newer = await upsertNewer(tx, 'billing_subscriptions', {
    ...row,
    organization_id: owner,
    event_at: at,
    status_rank: statusRank('subscription', row.status),
  });
  const { plan, unknownProductId } = await subscribedPlan(tx, owner);
  const from = await currentPlan(tx, owner);
  const to = unknownProductId === null && plan !== null && plan !== from ? plan : null;
  await addActivity(tx, {
    ...event,
    organizationId: owner,
    activity,
    subscriptionId: row.id,
    status: row.status,
    plan: to,
  });
  if (unknownProductId !== null && row.product_ids.includes(unknownProductId))
    return { waitsFor: unknownProductId, organizationId: owner };
  return { ...done(newer ? 'applied' : 'outdated', owner), planChange: to === null ? null : { from, to } };
}

/** The organization of the customer, or of the payment if the fact names no customer. */
async function ownerOf(tx: Transaction<Database>, fact: Exclude<Fact, ProductFact>): Promise<string | null> {
  if (fact.customerId !== null) {
    const found = await tx
      .selectFrom('organizations')
      .select('id')
      .where('stripe_customer_id', '=', fact.customerId)
      .executeTakeFirst();
    return found?.id ?? null;
  }
  const payment = await tx
    .selectFrom('billing_payments')
    .select('organization_id')
    .where('id', '=', paymentOf(fact) ?? '')
    .executeTakeFirst();
  return payment?.organization_id ?? null;
}

/** Returns false and keeps the stored row when that row is newer. */
async function upsertNewer(
  tx: Transaction<Database>,
  table: BilledTable | 'billing_subscriptions',
  row: object,
): Promise<boolean> {
  const columns = Object.entries(row);
  const names = sql.join(columns.map(([name]) => sql.ref(name)));
  const values = sql.join(columns.map(([, value]) => sql`${value}`));
  const changes = sql.join(columns.map(([name]) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`));
  const { rows } = await sql`
    insert into ${sql.table(table)} as known (${names}) values (${values})
    on conflict (id) do update set ${changes}
    where known.organization_id = excluded.organization_id
      and (known.event_at, known.status_rank) <= (excluded.event_at, excluded.status_rank)
    returning id`.execute(tx);
  return rows.length > 0;
}

interface Activity {
  readonly id: string;
  readonly at: string;
  readonly organizationId: string;
  readonly activity: (LinkFact | SubscriptionFact)['activity'];
  readonly subscriptionId: string | null;
  readonly status: string | null;
  readonly plan?: string | null;
}

/** The plan of an event that waited is known only when it is released, so a conflict updates the plan. */
async function addActivity(tx: Transaction<Database>, activity: Activity): Promise<void> {
  const plan = activity.plan ?? null;
  await tx
    .insertInto('billing_activities')
    .values({
      id: activity.id,
      organization_id: activity.organizationId,
      type: activity.activity,
      subscription_id: activity.subscriptionId,
      status: activity.status,
      plan,
      created_at: activity.at,
    })
    .onConflict((clash) => clash.column('id').doUpdateSet({ plan }))
    .execute();
}

function waiting(reference: string): Applied {
  return { waitsFor: reference, organizationId: null };
}

function done(outcome: 'applied' | 'outdated' | 'ignored', organizationId: string | null) {
  return { waitsFor: null, outcome, organizationId, planChange: null };
}
