import type { LimitMetric, LimitPeriod } from '@relay/contract';
import { METRICS } from '../../domain/limits/metric.ts';
import { invalidField } from '../resources/refusals.ts';

/**
 * Rejects a period that does not fit the metric: `none` is only for metrics counted while requests are in
 * flight.
 */
export function demandWindow({ metric, period }: { metric: LimitMetric; period: LimitPeriod }): void {
  if (METRICS[metric].held && period !== 'none') {
    throw invalidField('period', `period must be "none" when metric is "${metric}".`);
  }
  if (!METRICS[metric].held && period === 'none') {
    throw invalidField(
      'period',
      `period must be one of second, minute, hour, day, week, month when metric is "${metric}"; "none" is only for concurrency.`,
    );
  }
}
