import type { Insertable } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';

/**
 * What Relay reads from a Stripe event. Plain JSON, because an event may be stored until its organization is
 * known.
 */
export type Fact =
  | LinkFact
  | BilledFact<'billing_invoices'>
  | BilledFact<'billing_payments'>
  | BilledFact<'billing_refunds'>
  | BilledFact<'billing_disputes'>
  | SubscriptionFact
  | ProductFact;

export type BilledTable = 'billing_invoices' | 'billing_payments' | 'billing_refunds' | 'billing_disputes';
type Known = 'organization_id' | 'event_at' | 'status_rank';
export type BilledRow<T extends BilledTable> = Omit<Insertable<Database[T]>, Known>;

/** An invoice, payment, refund or dispute. */
export interface BilledFact<T extends BilledTable> {
  readonly kind: T;
  /** Null when the object names no customer; the payment then identifies the organization. */
  readonly customerId: string | null;
  readonly row: BilledRow<T>;
}

/** Links a customer to an organization. */
export interface LinkFact {
  readonly kind: 'link';
  readonly activity: 'customer.linked' | 'checkout.completed';
  readonly customerId: string;
  /** Null when the event does not name the organization; the customer may already be linked. */
  readonly organizationId: string | null;
  readonly subscriptionId: string | null;
}

export interface SubscriptionFact {
  readonly kind: 'subscription';
  readonly activity: 'subscription.created' | 'subscription.updated' | 'subscription.deleted';
  readonly customerId: string;
  readonly row: Omit<Insertable<Database['billing_subscriptions']>, Known>;
}

/** The plan that a product sells; null for none. */
export interface ProductFact {
  readonly kind: 'product';
  readonly productId: string;
  readonly plan: string | null;
}

export interface BillingEvent {
  readonly id: string;
  readonly type: string;
  /** The time of the event by Stripe's clock. */
  readonly at: string;
  readonly fact: Fact;
}

/** The payment that was refunded or disputed; null for other facts. */
export function paymentOf(fact: Fact): string | null {
  const refers = fact.kind === 'billing_refunds' || fact.kind === 'billing_disputes';
  return refers ? (fact.row.payment_id ?? null) : null;
}
