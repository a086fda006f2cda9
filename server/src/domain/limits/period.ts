import type { LimitPeriod } from '@relay/contract';

/** A window that slides: no interval of this length may exceed the limit. */
export type SlidingPeriod = Extract<LimitPeriod, 'second' | 'minute'>;
/** A window of the calendar in UTC: it resets at fixed times. */
export type CalendarPeriod = Exclude<LimitPeriod, SlidingPeriod | 'none'>;

export const CALENDAR_PERIODS = ['hour', 'day', 'week', 'month'] as const satisfies readonly CalendarPeriod[];

export function isCalendar(period: LimitPeriod): period is CalendarPeriod {
  return period !== 'none' && !isSliding(period);
}

export function isSliding(period: LimitPeriod): period is SlidingPeriod {
  return period === 'second' || period === 'minute';
}
