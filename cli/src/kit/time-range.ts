import { InvalidArgumentError } from 'commander';
import { durationMs } from './units.ts';

/** A time: a duration relative to now, or a date. */
export function momentIn(nowMs: () => number, sign: -1 | 1): (text: string) => string {
  return (text) => {
    if (/^\d{1,6}[smhdw]$/.test(text)) return new Date(nowMs() + sign * durationMs(text)).toISOString();
    const date = new Date(text);
    if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(date.getTime())) {
      throw new InvalidArgumentError(
        'Write it like 30m, 24h or 7d, or as a date such as 2026-01-31T12:00:00Z.',
      );
    }
    return date.toISOString();
  };
}
