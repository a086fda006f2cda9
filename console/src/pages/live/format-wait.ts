import { formatDuration } from '../../format/numbers.ts';
import { formatSpan } from '../../format/spans.ts';

const STEP_MS = 100;

/** A growing wait, in coarse steps to avoid flicker. */
export function formatWait(milliseconds: number): string {
  return formatDuration(Math.round(milliseconds / STEP_MS) * STEP_MS);
}

const MINUTE_MS = 60_000;
const SECONDS_BELOW_MS = 2 * MINUTE_MS;

/** The rest of a cooldown, in seconds near its end. */
export function formatCooling(milliseconds: number): string {
  if (milliseconds < SECONDS_BELOW_MS) return formatSpan(milliseconds);
  return formatSpan(Math.ceil(milliseconds / MINUTE_MS) * MINUTE_MS);
}
