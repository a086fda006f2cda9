import { invalidField } from './refusals.ts';

/** The last day of the years that a timestamp can name: whole hours and days that contain any accepted time end by then. */
export const TIME_MS_MAX = Date.UTC(9999, 11, 31);

/** The time in a query parameter; undefined when it is absent. */
export function timeOf(param: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const timeMs = Date.parse(text);
  // The schema accepts a leap second, which `Date` cannot represent.
  if (Number.isNaN(timeMs))
    throw invalidField(param, `${param} must be a time in UTC, such as 2026-01-31T00:00:00.000Z.`);
  return Math.min(Math.max(timeMs, 0), TIME_MS_MAX);
}
