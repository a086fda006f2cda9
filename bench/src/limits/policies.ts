import type { LimitMetric, LimitPeriod } from '@relay/contract';

export interface BenchPolicy {
  readonly scope: 'global' | 'endpoint';
  readonly metric: LimitMetric;
  readonly period: LimitPeriod;
}

/** High enough that no request waits: the bench measures counting. */
export const LIMIT_VALUE = 1_000_000_000_000;

/** Six for every candidate. The global ones are shared between candidates, the others are each endpoint's own. */
export const POLICIES: readonly BenchPolicy[] = [
  { scope: 'global', metric: 'requests', period: 'minute' },
  { scope: 'global', metric: 'tokens', period: 'minute' },
  { scope: 'global', metric: 'spend', period: 'day' },
  { scope: 'global', metric: 'concurrency', period: 'none' },
  { scope: 'endpoint', metric: 'requests', period: 'second' },
  { scope: 'endpoint', metric: 'tokens', period: 'minute' },
];

/** Micro-USD for a million tokens of input and of output. */
export const PRICE = { inputMicros: 150_000, outputMicros: 600_000 };
