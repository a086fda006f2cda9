import Type, { type Static } from 'typebox';
import {
  closed,
  ExactUsd,
  flag,
  Id,
  integer,
  Micros,
  nullable,
  oneOf,
  open,
  optional,
  pageFields,
  query,
  Timestamp,
} from '../schema.ts';

const RecordId = Type.String({ description: 'The id that the billing system, Stripe, gave it.' });
const MaybeRecordId = nullable(RecordId);
const MaybeTimestamp = nullable(Timestamp);
const MaybeUrl = nullable(Type.String());
const Currency = Type.String({ description: 'ISO 4217, in capitals.' });
/** Negative for a credit. */
const Amount = Type.Integer({
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'In the minor unit of the currency, such as cents.',
});
const Status = Type.String({ description: 'As the billing system says it.' });

export const BillingInvoice = closed('BillingInvoice', {
  id: RecordId,
  number: nullable(Type.String()),
  status: Type.String({ description: '`open`, `paid`, `void` or `uncollectible`. Drafts are not listed.' }),
  currency: Currency,
  total: Amount,
  amount_due: Amount,
  amount_paid: Amount,
  amount_remaining: Amount,
  subscription_id: MaybeRecordId,
  period_start: Timestamp,
  period_end: Timestamp,
  due_at: MaybeTimestamp,
  paid_at: MaybeTimestamp,
  created_at: Timestamp,
  hosted_invoice_url: MaybeUrl,
  invoice_pdf_url: MaybeUrl,
});
export type BillingInvoice = Static<typeof BillingInvoice>;

export const BillingPayment = closed('BillingPayment', {
  id: RecordId,
  status: Status,
  currency: Currency,
  amount: Amount,
  amount_received: Amount,
  failure_code: nullable(Type.String({ description: 'Why the last attempt failed.' })),
  created_at: Timestamp,
});
export type BillingPayment = Static<typeof BillingPayment>;

export const BillingRefund = closed('BillingRefund', {
  id: RecordId,
  payment_id: MaybeRecordId,
  status: Status,
  currency: Currency,
  amount: Amount,
  reason: nullable(Type.String()),
  created_at: Timestamp,
});
export type BillingRefund = Static<typeof BillingRefund>;

export const BillingDispute = closed('BillingDispute', {
  id: RecordId,
  payment_id: MaybeRecordId,
  status: Status,
  currency: Currency,
  amount: Amount,
  reason: nullable(Type.String()),
  evidence_due_at: MaybeTimestamp,
  created_at: Timestamp,
});
export type BillingDispute = Static<typeof BillingDispute>;

export const BillingActivity = closed('BillingActivity', {
  id: RecordId,
  type: oneOf([
    'customer.linked',
    'checkout.completed',
    'subscription.created',
    'subscription.updated',
    'subscription.deleted',
  ]),
  subscription_id: MaybeRecordId,
  status: nullable(Status),
  plan: nullable(
    Type.String({ description: 'The plan of the organization after it; null when it changed none.' }),
  ),
  created_at: Timestamp,
});
export type BillingActivity = Static<typeof BillingActivity>;

export const BillingHistory = closed(
  'BillingHistory',
  {
    invoices: Type.Array(BillingInvoice),
    payments: Type.Array(BillingPayment),
    refunds: Type.Array(BillingRefund),
    disputes: Type.Array(BillingDispute),
    activities: Type.Array(BillingActivity),
  },
  {
    description:
      'The newest 1,000 of each, newest first. Empty in a self-hosted deployment, where Relay charges nothing.',
  },
);
export type BillingHistory = Static<typeof BillingHistory>;

/** Stripe owns its shape; Relay reads the fields that its type needs. */
export const StripeEvent = open(
  'StripeEvent',
  {
    id: Type.String(),
    type: Type.String(),
    created: integer({ description: 'Unix time in seconds.' }),
    data: open('StripeEventData', { object: open('StripeEventObject', {}) }),
  },
  {
    description: 'An event of Stripe, signed in the header `stripe-signature` over the body as it was sent.',
  },
);

export const StripeEventReceipt = closed('StripeEventReceipt', {
  received: Type.Literal(true),
  outcome: oneOf(['applied', 'outdated', 'duplicate', 'kept', 'ignored'], {
    description:
      '`outdated`: something newer is known already. `kept`: it waits for the event that tells whose it is. `ignored`: nothing here follows from it.',
  }),
});
export type StripeEventReceipt = Static<typeof StripeEventReceipt>;

const Month = Type.String({
  pattern: '^(?:19|2\\d)\\d{2}-(?:0[1-9]|1[0-2])$',
  description: 'A month in UTC, as YYYY-MM.',
});

export const UsageStatementQuery = query({
  month: optional(Month),
  by: optional(
    oneOf(['key', 'user'], {
      default: 'key',
      description: 'A line for each user and key, or one for each user.',
    }),
  ),
  ...pageFields,
});
export type UsageStatementQuery = Static<typeof UsageStatementQuery>;

const usageFields = {
  requests: integer({ description: 'All of them, however they ended.' }),
  metered_requests: integer({ description: 'Those that a provider worked on.' }),
  estimated_requests: integer({ description: 'Metered ones of which the provider reported no usage.' }),
  unpriced_requests: integer({
    description: 'Metered ones at an endpoint without a price: not in the spend.',
  }),
  input_tokens: integer(),
  cached_input_tokens: integer({ description: 'Part of the input.' }),
  output_tokens: integer(),
  metered_spend_micros: nullable(Micros, {
    description:
      'Integer micro-USD by configured prices, rounded half up. Null when nothing that was used has a price.',
  }),
  metered_spend_usd: nullable(ExactUsd),
};

export const UsageTotals = closed('UsageTotals', usageFields);
export type UsageTotals = Static<typeof UsageTotals>;

export const UsageLine = closed('UsageLine', {
  user_uuid: nullable(Id),
  user_name: nullable(Type.String({ description: 'Null for a former member.' })),
  api_key_id: nullable(Id, { description: 'Null for traffic without a key, and in lines by user.' }),
  api_key_name: nullable(Type.String()),
  ...usageFields,
});
export type UsageLine = Static<typeof UsageLine>;

export const UsageStatement = closed('UsageStatement', {
  month: Month,
  period_start: Timestamp,
  period_end: Timestamp,
  complete: flag({ description: 'Whether the month is over.' }),
  basis: Type.Literal('configured_prices', {
    description: 'Metered by configured prices; not an invoice. Invoices are in the billing history.',
  }),
  currency: Type.Literal('USD'),
  totals: UsageTotals,
  lines: Type.Array(UsageLine),
  next_cursor: nullable(Type.String()),
});
export type UsageStatement = Static<typeof UsageStatement>;
