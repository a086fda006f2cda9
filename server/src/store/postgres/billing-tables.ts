import {
  bigint,
  defaulted,
  json,
  nullable,
  oneOf,
  smallint,
  text,
  textArray,
  timestamp,
  uuid,
} from './columns.ts';

/** Orders the states of a Stripe object by time. */
const newness = { event_at: timestamp, status_rank: smallint };
/** A charge, under Stripe's own id. */
const billed = {
  id: text,
  organization_id: uuid,
  status: text,
  currency: text,
  created_at: timestamp,
  ...newness,
};

/** What customers were charged, as Stripe reports it. */
export const billingTables = {
  billing_events: {
    id: text,
    type: text,
    organization_id: nullable(uuid),
    waits_for: nullable(text),
    fact: nullable(json),
    config_version: nullable(bigint),
    created_at: timestamp,
    received_at: defaulted(timestamp),
  },
  billing_invoices: {
    ...billed,
    number: nullable(text),
    total: bigint,
    amount_due: bigint,
    amount_paid: bigint,
    amount_remaining: bigint,
    subscription_id: nullable(text),
    period_start: timestamp,
    period_end: timestamp,
    due_at: nullable(timestamp),
    paid_at: nullable(timestamp),
    hosted_invoice_url: nullable(text),
    invoice_pdf_url: nullable(text),
  },
  billing_payments: { ...billed, amount: bigint, amount_received: bigint, failure_code: nullable(text) },
  billing_refunds: { ...billed, payment_id: nullable(text), amount: bigint, reason: nullable(text) },
  billing_disputes: {
    ...billed,
    payment_id: nullable(text),
    amount: bigint,
    reason: nullable(text),
    evidence_due_at: nullable(timestamp),
  },
  billing_activities: {
    id: text,
    organization_id: uuid,
    type: oneOf<
      | 'customer.linked'
      | 'checkout.completed'
      | 'subscription.created'
      | 'subscription.updated'
      | 'subscription.deleted'
    >(),
    subscription_id: nullable(text),
    status: nullable(text),
    plan: nullable(text),
    created_at: timestamp,
  },
  billing_subscriptions: {
    id: text,
    organization_id: uuid,
    status: text,
    product_ids: textArray,
    ...newness,
  },
  billing_products: { id: text, plan: nullable(text), event_at: timestamp },
};
