import { createHmac, randomBytes } from 'node:crypto';

/** Events as Stripe sends them, including a few of the fields that Relay does not read. */
export interface SentEvent {
  readonly id: string;
  readonly object: 'event';
  readonly type: string;
  readonly created: number;
  readonly data: { readonly object: Readonly<Record<string, unknown>> };
}

/** 1 November 2026, in seconds. */
export const NOVEMBER = Date.UTC(2026, 10, 1) / 1_000;
export const WEBHOOK_SECRET = 'whsec_a-secret-that-only-the-tests-know';

export function freshId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}

export function event(
  type: string,
  object: Readonly<Record<string, unknown>>,
  created = NOVEMBER,
  id = freshId('evt'),
): SentEvent {
  return { id, object: 'event', type, created, data: { object } };
}

/** The body and its signature header. */
export function signed(
  sent: object,
  { secret = WEBHOOK_SECRET, atMs = Date.now() }: { secret?: string; atMs?: number } = {},
): { body: string; headers: { 'stripe-signature': string } } {
  // Indented as Stripe does: parsing and serializing would change the text, which the signature covers.
  const body = JSON.stringify(sent, null, 2);
  const timestamp = Math.floor(atMs / 1_000);
  const v1 = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  const header = `t=${timestamp},v1=${v1}`;
  return { body, headers: { 'stripe-signature': header } };
}

export function customer(id: string, organizationId?: string) {
  const metadata = organizationId === undefined ? {} : { organization_id: organizationId };
  return { id, object: 'customer', email: 'billing@example.com', created: NOVEMBER, metadata };
}

export function invoice(customerId: string, fields: Readonly<Record<string, unknown>> = {}) {
  return {
    id: freshId('in'),
    object: 'invoice',
    customer: customerId,
    customer_email: 'billing@example.com',
    number: 'A-0001',
    status: 'open',
    currency: 'usd',
    total: 4_900,
    amount_due: 4_900,
    amount_paid: 0,
    amount_remaining: 4_900,
    created: NOVEMBER,
    period_start: NOVEMBER,
    period_end: NOVEMBER + 86_400,
    due_date: null,
    status_transitions: { finalized_at: NOVEMBER, paid_at: null },
    parent: { type: 'subscription_details', subscription_details: { subscription: 'sub_1' } },
    hosted_invoice_url: 'https://invoice.example.com/i/1',
    invoice_pdf: 'https://invoice.example.com/i/1.pdf',
    ...fields,
  };
}

export function paymentIntent(customerId: string | null, fields: Readonly<Record<string, unknown>> = {}) {
  return {
    id: freshId('pi'),
    object: 'payment_intent',
    customer: customerId,
    client_secret: 'a-secret-of-stripe',
    status: 'succeeded',
    currency: 'usd',
    amount: 4_900,
    amount_received: 4_900,
    last_payment_error: null,
    created: NOVEMBER,
    ...fields,
  };
}

export function refund(paymentId: string, fields: Readonly<Record<string, unknown>> = {}) {
  return {
    id: freshId('re'),
    object: 'refund',
    customer: null,
    payment_intent: paymentId,
    status: 'succeeded',
    currency: 'usd',
    amount: 1_000,
    reason: 'requested_by_customer',
    created: NOVEMBER,
    ...fields,
  };
}

export function dispute(paymentId: string, fields: Readonly<Record<string, unknown>> = {}) {
  return {
    id: freshId('du'),
    object: 'dispute',
    payment_intent: { id: paymentId, object: 'payment_intent' },
    status: 'needs_response',
    currency: 'usd',
    amount: 4_900,
    reason: 'fraudulent',
    evidence_details: { due_by: NOVEMBER + 604_800 },
    created: NOVEMBER,
    ...fields,
  };
}

export function subscription(
  customerId: string,
  productIds: readonly string[],
  fields: Readonly<Record<string, unknown>> = {},
) {
  return {
    id: freshId('sub'),
    object: 'subscription',
    customer: customerId,
    status: 'active',
    items: { object: 'list', data: productIds.map((product) => ({ price: { id: 'price_1', product } })) },
    created: NOVEMBER,
    ...fields,
  };
}

export function product(id: string, plan?: string) {
  return {
    id,
    object: 'product',
    metadata: plan === undefined ? {} : { relay_plan: plan },
    created: NOVEMBER,
  };
}
