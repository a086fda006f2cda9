import { isPlanName, type PlanName } from '../../domain/access.ts';

export interface HeldSubscription {
  readonly status: string;
  /** The plans that its products stand for. */
  readonly plans: readonly (string | null)[];
}

/** A failed payment is first asked for again; access ends when Stripe gives up. */
const GIVING = ['active', 'trialing', 'past_due'];
/** One that was never paid has ended nothing. */
const ENDED = ['canceled', 'unpaid', 'paused'];
const FROM_BEST: readonly PlanName[] = ['enterprise', 'team', 'free'];

/**
 * The plan that an organization's subscriptions come to: the best that any of them gives; closed when all that gave one have
 * ended; null when they say nothing about it.
 */
export function planFrom(subscriptions: readonly HeldSubscription[]): PlanName | null {
  const withPlan = subscriptions.filter(({ plans }) =>
    plans.some((plan) => plan !== null && isPlanName(plan)),
  );
  const given = withPlan.filter(givesAccess).flatMap(({ plans }) => plans);
  const best = FROM_BEST.find((plan) => given.includes(plan));
  if (best !== undefined) return best;
  return withPlan.some(({ status }) => ENDED.includes(status)) ? 'closed' : null;
}

export function givesAccess({ status }: Pick<HeldSubscription, 'status'>): boolean {
  return GIVING.includes(status);
}
