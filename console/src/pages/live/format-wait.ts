import { formatDuration } from '../../format/numbers.ts';

const STEP_MS = 100;

/** A growing wait, in coarse steps to avoid flicker. */
export function formatWait(milliseconds: number): string {
  return formatDuration(Math.round(milliseconds / STEP_MS) * STEP_MS);
}
