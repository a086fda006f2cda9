import type { LimitMetric, LimitPeriod } from '../../domain/snapshot.ts';
import { invalidField } from '../refusals.ts';

/** Concurrency is counted at a moment and everything else over a period. */
export function demandWindow({ metric, period }: { metric: LimitMetric; period: LimitPeriod }): void {
  if (metric === 'concurrency' && period !== 'none') {
    throw invalidField('period', 'period must be "none" when metric is "concurrency".');
  }
  if (metric !== 'concurrency' && period === 'none') {
    throw invalidField(
      'period',
      `period must be one of second, minute, hour, day, month when metric is "${metric}"; "none" goes with concurrency.`,
    );
  }
}
