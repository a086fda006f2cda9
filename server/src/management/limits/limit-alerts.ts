import type { LimitPeriod } from '@relay/contract';
import { isCalendar } from '../../domain/limits/period.ts';
import { invalidField } from '../resources/refusals.ts';

interface AlertSettings {
  readonly alert_at: number[];
  readonly alert_on_forecast: boolean;
}

interface Windowed {
  readonly period: LimitPeriod;
}

export function alertsOf({ alert_at, alert_on_forecast }: AlertSettings): AlertSettings {
  return { alert_at, alert_on_forecast };
}

/**
 * The columns of what a body says of alerts. Throws 400 for a window that has no end to warn before; a limit that
 * gets such a window loses its alerts.
 */
export function alertColumns(body: AlertSettings & Windowed): AlertSettings;
export function alertColumns(body: Partial<AlertSettings> & Windowed): {
  readonly alert_at: number[] | undefined;
  readonly alert_on_forecast: boolean | undefined;
};
export function alertColumns(body: Partial<AlertSettings> & Windowed) {
  const { alert_at, alert_on_forecast, period } = body;
  if (!isCalendar(period)) {
    const why =
      'needs a limit with the period hour, day, week or month: shorter windows reset too soon for alerts.';
    if (alert_at !== undefined && alert_at.length > 0) throw invalidField('alert_at', `alert_at ${why}`);
    if (alert_on_forecast === true) throw invalidField('alert_on_forecast', `alert_on_forecast ${why}`);
    return { alert_at: [], alert_on_forecast: false };
  }
  const sorted = alert_at === undefined ? undefined : [...new Set(alert_at)].sort((a, b) => a - b);
  return { alert_at: sorted, alert_on_forecast };
}
