import * as stripe from './stripe-account.ts';

/** What happened to one customer, event by event, and what the history has to show once all of them were heard of. */
export interface Story {
  readonly customerId: string;
  readonly events: readonly stripe.StripeEvent[];
  /** By list: ids with their last status and amount, in the order of ids. */
  readonly shown: Readonly<Record<'invoices' | 'payments' | 'refunds' | 'disputes', readonly Shown[]>>;
  readonly activities: readonly string[];
  readonly plan: string;
}
export type Shown = readonly [id: string, status: string, amount: number];

/** Several months of a customer who pays late once, is refunded once and disputes once, and changes plans. */
export function storyOf(organizationId: string, months: number): Story {
  const customerId = stripe.newId('cus');
  const [teamId, enterpriseId] = [stripe.newId('prod'), stripe.newId('prod')];
  const subscriptionId = stripe.newId('sub');
  const subscribed = (productId: string, status: string) =>
    stripe.subscription(subscriptionId, customerId, productId, status);
  const events: stripe.StripeEvent[] = [
    stripe.eventAt(0, 'customer.created', stripe.customer(customerId, organizationId)),
    stripe.eventAt(0, 'product.created', stripe.product(teamId, 'team')),
    stripe.eventAt(0, 'product.created', stripe.product(enterpriseId, 'enterprise')),
    stripe.eventAt(1, 'customer.subscription.created', subscribed(teamId, 'active')),
    stripe.eventAt(900, 'customer.subscription.updated', subscribed(enterpriseId, 'active')),
    // Of no consequence, but sent all the same.
    stripe.eventAt(5, 'invoice.created', stripe.invoice(stripe.newId('in'), customerId, 'draft', 1)),
    stripe.eventAt(6, 'customer.tax_id.created', { id: stripe.newId('txi'), object: 'tax_id' }),
  ];
  const shown = {
    invoices: [] as Shown[],
    payments: [] as Shown[],
    refunds: [] as Shown[],
    disputes: [] as Shown[],
  };
  for (let month = 1; month <= months; month += 1) {
    const at = month * 10;
    const amount = 1_000 * month;
    const [invoiceId, paymentId] = [stripe.newId('in'), stripe.newId('pi')];
    events.push(
      stripe.eventAt(at, 'invoice.finalized', stripe.invoice(invoiceId, customerId, 'open', amount)),
      stripe.eventAt(
        at + 1,
        'payment_intent.processing',
        stripe.payment(paymentId, customerId, 'processing', amount),
      ),
      stripe.eventAt(
        at + 2,
        'payment_intent.payment_failed',
        stripe.payment(paymentId, customerId, 'requires_payment_method', amount),
      ),
      stripe.eventAt(at + 2, 'invoice.payment_failed', stripe.invoice(invoiceId, customerId, 'open', amount)),
      // Paid within the second in which it was tried again.
      stripe.eventAt(
        at + 3,
        'payment_intent.processing',
        stripe.payment(paymentId, customerId, 'processing', amount),
      ),
      stripe.eventAt(
        at + 3,
        'payment_intent.succeeded',
        stripe.payment(paymentId, customerId, 'succeeded', amount),
      ),
      stripe.eventAt(at + 3, 'invoice.paid', stripe.invoice(invoiceId, customerId, 'paid', amount)),
      stripe.eventAt(at + 3, 'invoice.updated', stripe.invoice(invoiceId, customerId, 'open', amount)),
    );
    shown.invoices.push([invoiceId, 'paid', amount]);
    shown.payments.push([paymentId, 'succeeded', amount]);
    const [refundId, disputeId] = [stripe.newId('re'), stripe.newId('du')];
    events.push(
      stripe.eventAt(at + 4, 'refund.created', stripe.refund(refundId, paymentId, 'pending', month)),
      stripe.eventAt(at + 5, 'refund.updated', stripe.refund(refundId, paymentId, 'succeeded', month)),
      stripe.eventAt(
        at + 6,
        'charge.dispute.created',
        stripe.dispute(disputeId, paymentId, 'needs_response', month),
      ),
      stripe.eventAt(at + 7, 'charge.dispute.closed', stripe.dispute(disputeId, paymentId, 'lost', month)),
    );
    shown.refunds.push([refundId, 'succeeded', month]);
    shown.disputes.push([disputeId, 'lost', month]);
  }
  const byId = (records: Shown[]) => records.sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    customerId,
    events,
    shown: {
      invoices: byId(shown.invoices),
      payments: byId(shown.payments),
      refunds: byId(shown.refunds),
      disputes: byId(shown.disputes),
    },
    activities: ['customer.linked', 'subscription.created', 'subscription.updated'],
    plan: 'enterprise',
  };
}
