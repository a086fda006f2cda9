import type { Insertable } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';

/** What follows from an event of Stripe; plain JSON, because it may have to be kept until it is known whose it is. */
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

/** Something charged, paid or given back. */
export interface BilledFact<T extends BilledTable> {
  readonly kind: T;
  /** Whose it is; null where the object names no customer, and then it is found by the payment. */
  readonly customerId: string | null;
  readonly row: BilledRow<T>;
}

/** A customer is an organization's. */
export interface LinkFact {
  readonly kind: 'link';
  readonly activity: 'customer.linked' | 'checkout.completed';
  readonly customerId: string;
  /** Null: nothing is said of it here, and the customer may be known already. */
  readonly organizationId: string | null;
  readonly subscriptionId: string | null;
}

export interface SubscriptionFact {
  readonly kind: 'subscription';
  readonly activity: 'subscription.created' | 'subscription.updated' | 'subscription.deleted';
  readonly customerId: string;
  readonly row: Omit<Insertable<Database['billing_subscriptions']>, Known>;
}

/** Which plan a product stands for; null for none. */
export interface ProductFact {
  readonly kind: 'product';
  readonly productId: string;
  readonly plan: string | null;
}

export interface BillingEvent {
  readonly id: string;
  readonly type: string;
  /** When it happened, by Stripe's clock. */
  readonly at: string;
  readonly fact: Fact;
}

/** The payment that a refund or a dispute is of. */
export function paymentOf(fact: Fact): string | null {
  const refers = fact.kind === 'billing_refunds' || fact.kind === 'billing_disputes';
  return refers ? (fact.row.payment_id ?? null) : null;
}
