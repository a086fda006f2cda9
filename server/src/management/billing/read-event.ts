import { isPlanName } from '../../domain/access.ts';
import { isId } from '../resources/refusals.ts';
import type { BilledFact, BillingEvent, Fact, LinkFact, SubscriptionFact } from './billing-fact.ts';
import type { Fields } from './stripe-fields.ts';

/** The event types that Relay reads. All others change nothing. */
const READERS: Readonly<Record<string, (object: Fields) => Fact | null>> = {
  'customer.created': linkOf,
  'customer.updated': linkOf,
  'checkout.session.completed': checkoutOf,
  'invoice.finalized': invoiceOf,
  'invoice.updated': invoiceOf,
  'invoice.paid': invoiceOf,
  'invoice.payment_succeeded': invoiceOf,
  'invoice.payment_failed': invoiceOf,
  'invoice.voided': invoiceOf,
  'invoice.marked_uncollectible': invoiceOf,
  'payment_intent.processing': paymentIntentOf,
  'payment_intent.requires_action': paymentIntentOf,
  'payment_intent.payment_failed': paymentIntentOf,
  'payment_intent.succeeded': paymentIntentOf,
  'payment_intent.canceled': paymentIntentOf,
  'refund.created': refundOf,
  'refund.updated': refundOf,
  'refund.failed': refundOf,
  'charge.dispute.created': disputeOf,
  'charge.dispute.updated': disputeOf,
  'charge.dispute.closed': disputeOf,
  'charge.dispute.funds_withdrawn': disputeOf,
  'charge.dispute.funds_reinstated': disputeOf,
  'customer.subscription.created': subscriptionOf('subscription.created'),
  'customer.subscription.updated': subscriptionOf('subscription.updated'),
  'customer.subscription.paused': subscriptionOf('subscription.updated'),
  'customer.subscription.resumed': subscriptionOf('subscription.updated'),
  'customer.subscription.deleted': subscriptionOf('subscription.deleted'),
  'product.created': productOf,
  'product.updated': productOf,
};

/** Reads an event; null when Relay ignores it. */
export function readEvent(event: Fields): BillingEvent | null {
  const type = event.text('type');
  const object = event.inner('data')?.inner('object');
  if (!Object.hasOwn(READERS, type) || object === undefined) return null;
  const fact = READERS[type]?.(object) ?? null;
  return fact === null ? null : { id: event.id('id'), type, at: event.time('created'), fact };
}

function linkOf(customer: Fields): LinkFact | null {
  const organizationId = organizationIn(customer);
  if (organizationId === null) return null;
  const customerId = customer.id('id');
  return { kind: 'link', activity: 'customer.linked', customerId, organizationId, subscriptionId: null };
}

function checkoutOf(session: Fields): LinkFact | null {
  const customerId = session.maybeId('customer');
  if (customerId === null) return null;
  return {
    kind: 'link',
    activity: 'checkout.completed',
    customerId,
    organizationId: organizationIn(session),
    subscriptionId: session.maybeId('subscription'),
  };
}

/**
 * From the metadata, which only the holder of the Stripe key can write; a buyer can set other fields of a
 * checkout.
 */
function organizationIn(object: Fields): string | null {
  const id = object.inner('metadata')?.maybeText('organization_id') ?? null;
  return id !== null && isId(id) ? id.toLowerCase() : null;
}

function billedBy(object: Fields, status: string) {
  return {
    id: object.id('id'),
    status,
    currency: object.text('currency').toUpperCase(),
    created_at: object.time('created'),
  };
}

function invoiceOf(invoice: Fields): BilledFact<'billing_invoices'> | null {
  const customerId = invoice.maybeId('customer');
  const status = invoice.maybeText('status') ?? 'draft';
  // Drafts can still change or be deleted.
  if (customerId === null || status === 'draft') return null;
  return {
    kind: 'billing_invoices',
    customerId,
    row: {
      ...billedBy(invoice, status),
      number: invoice.maybeText('number'),
      total: invoice.integer('total'),
      amount_due: invoice.integer('amount_due'),
      amount_paid: invoice.integer('amount_paid'),
      amount_remaining: invoice.integer('amount_remaining'),
      subscription_id:
        invoice.inner('parent')?.inner('subscription_details')?.maybeId('subscription') ?? null,
      period_start: invoice.time('period_start'),
      period_end: invoice.time('period_end'),
      due_at: invoice.maybeTime('due_date'),
      paid_at: invoice.inner('status_transitions')?.maybeTime('paid_at') ?? null,
      hosted_invoice_url: invoice.maybeText('hosted_invoice_url'),
      invoice_pdf_url: invoice.maybeText('invoice_pdf'),
    },
  };
}

function paymentIntentOf(intent: Fields): BilledFact<'billing_payments'> | null {
  const customerId = intent.maybeId('customer');
  if (customerId === null) return null;
  return {
    kind: 'billing_payments',
    customerId,
    row: {
      ...billedBy(intent, intent.text('status')),
      amount: intent.integer('amount'),
      amount_received: intent.integer('amount_received'),
      failure_code: intent.inner('last_payment_error')?.maybeText('code') ?? null,
    },
  };
}

function refundOf(refund: Fields): BilledFact<'billing_refunds'> | null {
  const customerId = refund.maybeId('customer');
  const payment_id = refund.maybeId('payment_intent');
  if (customerId === null && payment_id === null) return null;
  return {
    kind: 'billing_refunds',
    customerId,
    row: {
      ...billedBy(refund, refund.maybeText('status') ?? 'unknown'),
      payment_id,
      amount: refund.integer('amount'),
      reason: refund.maybeText('reason'),
    },
  };
}

function disputeOf(dispute: Fields): BilledFact<'billing_disputes'> | null {
  const payment_id = dispute.maybeId('payment_intent');
  if (payment_id === null) return null;
  return {
    kind: 'billing_disputes',
    customerId: null,
    row: {
      ...billedBy(dispute, dispute.text('status')),
      payment_id,
      amount: dispute.integer('amount'),
      reason: dispute.maybeText('reason'),
      evidence_due_at: dispute.inner('evidence_details')?.maybeTime('due_by') ?? null,
    },
  };
}

function subscriptionOf(activity: SubscriptionFact['activity']) {
  return (subscription: Fields): SubscriptionFact | null => {
    const customerId = subscription.maybeId('customer');
    if (customerId === null) return null;
    const products = subscription
      .inner('items')
      ?.list('data')
      .map((item) => item.inner('price')?.maybeId('product') ?? null);
    return {
      kind: 'subscription',
      activity,
      customerId,
      row: {
        id: subscription.id('id'),
        status: subscription.text('status'),
        product_ids: [...new Set(products)].filter((product) => product !== null).sort(),
      },
    };
  };
}

function productOf(product: Fields): Fact {
  const plan = product.inner('metadata')?.maybeText('relay_plan') ?? null;
  return { kind: 'product', productId: product.id('id'), plan: plan !== null && isSold(plan) ? plan : null };
}

/** No product sells `self_hosted`, which is the plan of a deployment, or `closed`, the state after a plan. */
function isSold(plan: string): boolean {
  return isPlanName(plan) && plan !== 'self_hosted' && plan !== 'closed';
}
