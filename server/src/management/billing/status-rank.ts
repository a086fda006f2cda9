import type { Fact } from './billing-fact.ts';

type Ranked = Exclude<Fact['kind'], 'link' | 'product'>;

/**
 * How far an object has progressed at each status. Stripe's times are whole seconds, so this decides between
 * two events of the same second. An unlisted status ranks lowest, so it never replaces a listed one.
 */
const RANKS: Readonly<Record<Ranked, Readonly<Record<string, number>>>> = {
  billing_invoices: { open: 1, uncollectible: 2, paid: 3, void: 3 },
  billing_payments: {
    requires_payment_method: 1,
    requires_confirmation: 1,
    requires_action: 2,
    processing: 3,
    requires_capture: 4,
    succeeded: 5,
    canceled: 5,
  },
  billing_refunds: { pending: 1, requires_action: 1, succeeded: 2, failed: 3, canceled: 3 },
  billing_disputes: {
    warning_needs_response: 1,
    needs_response: 1,
    warning_under_review: 2,
    under_review: 2,
    warning_closed: 3,
    prevented: 3,
    won: 3,
    lost: 3,
    appeal_needs_response: 4,
    appeal_under_review: 5,
  },
  subscription: {
    incomplete: 1,
    trialing: 2,
    active: 3,
    past_due: 4,
    paused: 4,
    unpaid: 5,
    canceled: 6,
    incomplete_expired: 6,
  },
};

export function statusRank(kind: Ranked, status: string): number {
  const ranks = RANKS[kind];
  return Object.hasOwn(ranks, status) ? (ranks[status] ?? 0) : 0;
}
