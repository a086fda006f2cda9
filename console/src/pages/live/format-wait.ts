import { formatDuration } from '../../format/numbers.ts';
import { formatSpan } from '../../format/spans.ts';

const STEP_MS = 100;

/** A wait that grows while one looks at it: finer steps would only flicker. */
export function formatWait(milliseconds: number): string {
  return formatDuration(Math.round(milliseconds / STEP_MS) * STEP_MS);
}

const MINUTE_MS = 60_000;
const SECONDS_BELOW_MS = 2 * MINUTE_MS;

/** What is left of a cooldown, to the second when it is nearly over; there is no room for more. */
export function formatCooling(milliseconds: number): string {
  if (milliseconds < SECONDS_BELOW_MS) return formatSpan(milliseconds);
  return formatSpan(Math.ceil(milliseconds / MINUTE_MS) * MINUTE_MS);
}
