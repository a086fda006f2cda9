import { createHmac, randomBytes } from 'node:crypto';

/** A moment of the tests' own in seconds, after which everything here happens. */
const START = Date.UTC(2026, 9, 1) / 1_000;

export interface StripeEvent {
  readonly id: string;
  readonly object: 'event';
  readonly api_version: string;
  readonly type: string;
  readonly created: number;
  readonly livemode: false;
  readonly data: { readonly object: Readonly<Record<string, unknown>> };
}

export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}

/** An event that happened this many seconds after the start. */
export function eventAt(
  second: number,
  type: string,
  object: Readonly<Record<string, unknown>>,
): StripeEvent {
  return {
    id: newId('evt'),
    object: 'event',
    api_version: '2026-10-28.endive',
    type,
    created: START + second,
    livemode: false,
    data: { object },
  };
}

export interface Signing {
  readonly secret: string;
  readonly atMs?: number;
}

/** What Stripe sends: the body, laid out as Stripe does, and its signature. */
export function signedBy(
  event: StripeEvent,
  { secret, atMs = Date.now() }: Signing,
): { body: string; header: string } {
  const body = JSON.stringify(event, null, 2);
  const timestamp = Math.floor(atMs / 1_000);
  const v1 = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  return { body, header: `t=${timestamp},v1=${v1}` };
}

export function customer(id: string, organizationId: string) {
  return { id, object: 'customer', created: START, metadata: { organization_id: organizationId } };
}

export function product(id: string, plan: string) {
  return { id, object: 'product', active: true, created: START, metadata: { relay_plan: plan } };
}

export function subscription(id: string, customerId: string, productId: string, status: string) {
  const price = { id: newId('price'), object: 'price', product: productId };
  const items = { object: 'list', data: [{ id: newId('si'), object: 'subscription_item', price }] };
  return { id, object: 'subscription', customer: customerId, status, created: START, items };
}

export function invoice(id: string, customerId: string, status: string, total: number) {
  const paid = status === 'paid';
  return {
    id,
    object: 'invoice',
    customer: customerId,
    number: `N-${id.slice(-6)}`,
    status,
    currency: 'eur',
    total,
    amount_due: total,
    amount_paid: paid ? total : 0,
    amount_remaining: paid ? 0 : total,
    created: START,
    period_start: START,
    period_end: START + 2_592_000,
    due_date: null,
    parent: null,
    status_transitions: { paid_at: paid ? START + 60 : null },
    hosted_invoice_url: `https://invoice.example.com/${id}`,
    invoice_pdf: null,
  };
}

export function payment(id: string, customerId: string, status: string, amount: number) {
  const failed = status === 'requires_payment_method';
  return {
    id,
    object: 'payment_intent',
    customer: customerId,
    status,
    currency: 'eur',
    amount,
    amount_received: status === 'succeeded' ? amount : 0,
    last_payment_error: failed ? { code: 'card_declined' } : null,
    created: START,
  };
}

export function refund(id: string, paymentId: string, status: string, amount: number) {
  const shared = { currency: 'eur', created: START, reason: 'duplicate' };
  return { id, object: 'refund', customer: null, payment_intent: paymentId, status, amount, ...shared };
}

export function dispute(id: string, paymentId: string, status: string, amount: number) {
  const shared = {
    currency: 'eur',
    created: START,
    reason: 'fraudulent',
    evidence_details: { due_by: null },
  };
  return { id, object: 'dispute', payment_intent: paymentId, status, amount, ...shared };
}
