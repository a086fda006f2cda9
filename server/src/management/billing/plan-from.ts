import { isPlanName, type PlanName } from '../../domain/access.ts';

export interface HeldSubscription {
  readonly status: string;
  /** The plans that its products sell. */
  readonly plans: readonly (string | null)[];
}

/** `past_due` still gives access: Stripe retries a failed payment and changes the status when it gives up. */
const GIVING = ['active', 'trialing', 'past_due'];
/**
 * A subscription that was never paid (`incomplete_expired`) is not listed: it gave no access that could end.
 */
const ENDED = ['canceled', 'unpaid', 'paused'];
const FROM_BEST: readonly PlanName[] = ['enterprise', 'team', 'free'];

/**
 * The best plan that any subscription gives; `closed` when none does and one with a plan has ended; null when
 * no subscription determines a plan.
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
