import type { CountedRequests } from '../domain/limits/limit.ts';

/** A limit as the engines see it: already resolved to the requests it applies to. */
export interface Policy {
  readonly id: string;
  readonly metric: Metric;
  readonly period: Period;
  readonly limit: number;
  /** What its window is rebuilt from when it is lost; the engines do not look at it. */
  readonly counts?: CountedRequests;
}

export type Metric = 'requests' | 'tokens' | 'spend' | 'concurrency';
export type Period = 'second' | 'minute' | 'hour' | 'day' | 'month' | 'none';
export type SlidingPeriod = 'second' | 'minute';
export type CalendarPeriod = 'hour' | 'day' | 'month';

/** What one request takes from one policy. */
export interface Charge {
  readonly policy: Policy;
  /** 1 for requests and concurrency, the estimate for tokens and spend. */
  readonly cost: number;
}

export function isSliding(period: Period): period is SlidingPeriod {
  return period === 'second' || period === 'minute';
}

/** Short windows over requests are paced: spread over the period instead of released in a burst. */
export function isPaced({ metric, period }: Policy): boolean {
  return metric === 'requests' && isSliding(period);
}
