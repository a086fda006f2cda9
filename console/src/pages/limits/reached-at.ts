import { type LimitUsage, tellingForecast } from '@relay/contract';
import { isCalendar, type Window, windowAt } from '../../parts/limit-window.ts';

/** What is used of a calendar window by now. */
export interface WindowUse extends Window {
  readonly used: number;
}

/** When a limit of some value is reached; `early`: too little of the window has passed to say. */
type Reached =
  | { readonly kind: 'already' }
  | { readonly kind: 'at'; readonly atMs: number }
  | { readonly kind: 'never' }
  | { readonly kind: 'early' };

/** What counts toward a limit in its calendar window. Reservations count, as in the server's forecast. */
export function windowUseOf(
  { period, used, reserved }: Pick<LimitUsage, 'period' | 'used' | 'reserved'>,
  nowMs: number,
): WindowUse | null {
  return isCalendar(period) ? { ...windowAt(period, nowMs), used: used + reserved } : null;
}

/** The server's forecast, for a value that is not saved yet. */
export function reachedAt(use: WindowUse, limit: number, nowMs: number): Reached {
  if (use.used >= limit) return { kind: 'already' };
  const forecast = tellingForecast({ ...use, limit }, nowMs);
  if (forecast === null) return { kind: 'early' };
  return forecast.exhaustedMs === null ? { kind: 'never' } : { kind: 'at', atMs: forecast.exhaustedMs };
}
