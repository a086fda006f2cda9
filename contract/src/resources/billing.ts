import Type, { type Static } from 'typebox';
import { costSums, fallbackPart } from '../cost-sums.ts';
import {
  closed,
  flag,
  Id,
  integer,
  nullable,
  oneOf,
  open,
  optional,
  pageFields,
  query,
  Timestamp,
} from '../schema.ts';

const RecordId = Type.String({ description: 'The ID in the billing system, Stripe.' });
const MaybeRecordId = nullable(RecordId);
const MaybeTimestamp = nullable(Timestamp);
const MaybeUrl = nullable(Type.String());
const Currency = Type.String({ description: 'ISO 4217 code in uppercase.' });
/** Negative for a credit. */
const Amount = Type.Integer({
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'In the minor unit of the currency, such as cents.',
});
const Status = Type.String({ description: 'The status in the billing system.' });

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
    Type.String({ description: 'The organization’s plan afterward; null if the plan did not change.' }),
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
    description: 'A Stripe event. The `stripe-signature` header contains the signature of the raw body.',
  },
);

export const StripeEventReceipt = closed('StripeEventReceipt', {
  received: Type.Literal(true),
  outcome: oneOf(['applied', 'outdated', 'duplicate', 'kept', 'ignored'], {
    description:
      '`outdated`: Relay already has newer data. `kept`: stored until another event shows which organization it belongs to. `ignored`: Relay does not use this event.',
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
      description: 'One line per member and key, or one line per member.',
    }),
  ),
  ...pageFields,
});
export type UsageStatementQuery = Static<typeof UsageStatementQuery>;

const usageFields = {
  requests: integer({ description: 'All requests, whatever their outcome.' }),
  metered_requests: integer({
    description:
      'Requests that used something: those of which an attempt was sent, except those that every provider rejected without reporting usage.',
  }),
  estimated_requests: integer({
    description:
      'Metered requests with an attempt whose usage is an estimate, because the provider did not report it.',
  }),
  input_tokens: integer(),
  cached_input_tokens: integer({ description: 'Part of `input_tokens`.' }),
  output_tokens: integer(),
  ...costSums({ metered_spend: 'At the configured prices.', fallback_cost: fallbackPart }),
};

export const UsageTotals = closed('UsageTotals', usageFields);
export type UsageTotals = Static<typeof UsageTotals>;

export const UsageLine = closed('UsageLine', {
  user_uuid: nullable(Id),
  user_name: nullable(Type.String({ description: 'Null for a former member.' })),
  api_key_id: nullable(Id, { description: 'Null for traffic without a key, and in lines by member.' }),
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
    description: 'Metered at the configured prices; not an invoice. Invoices are in the billing history.',
  }),
  currency: Type.Literal('USD'),
  totals: UsageTotals,
  lines: Type.Array(UsageLine),
  next_cursor: nullable(Type.String()),
});
export type UsageStatement = Static<typeof UsageStatement>;
