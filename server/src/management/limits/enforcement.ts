import type { LimitMetric } from '@relay/contract';
import { isUnitCost } from '../../domain/limits/metric.ts';
import type { Enforcement, UnpricedRule } from '../../domain/snapshot.ts';
import { invalidField } from '../resources/refusals.ts';

interface Enforced {
  readonly metric: LimitMetric;
  readonly unpriced?: UnpricedRule;
  readonly enforcement?: Enforcement;
}

/** Rejects `hard` where it means nothing or contradicts what the limit allows. What a change leaves out is as `before`. */
export function demandEnforcement(wanted: Enforced, before?: Enforced): void {
  const { metric } = wanted;
  if ((wanted.enforcement ?? before?.enforcement) !== 'hard') return;
  if (isUnitCost(metric)) {
    throw invalidField(
      'enforcement',
      `enforcement must be "estimate" when metric is "${metric}": "hard" is only for tokens and spend.`,
    );
  }
  if (metric === 'spend' && (wanted.unpriced ?? before?.unpriced) === 'allow') {
    throw invalidField(
      'enforcement',
      'enforcement cannot be "hard" while unpriced is "allow": without a price, spend cannot be bounded. Set unpriced to "refuse".',
    );
  }
}
