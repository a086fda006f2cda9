const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** Below this, tenths of a second matter. */
const TENTHS_BELOW_MS = 10 * SECOND_MS;

/**
 * A duration as people read it, in at most two units: 40 ms, 1.2 s, 12 s, 3 min 20 s, 8 h 39 min, 3 d 2 h.
 * Pass `Math.ceil` for the time until something, so that a client that waits as long has waited enough.
 */
export function durationWords(durationMs: number, round: (value: number) => number = Math.round): string {
  const ms = Math.max(0, durationMs);
  if (round(ms) === 0) return '0 s';
  if (round(ms) < SECOND_MS) return `${round(ms)} ms`;
  if (ms < TENTHS_BELOW_MS) return `${round(ms / 100) / 10} s`;
  const seconds = round(ms / SECOND_MS);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return twoUnits(seconds, 60, 'min', 's');
  const minutes = round(ms / MINUTE_MS);
  if (minutes < 1_440) return twoUnits(minutes, 60, 'h', 'min');
  return twoUnits(round(ms / HOUR_MS), 24, 'd', 'h');
}

function twoUnits(amount: number, perLarge: number, large: string, small: string): string {
  const rest = amount % perLarge;
  const whole = `${Math.floor(amount / perLarge)} ${large}`;
  return rest === 0 ? whole : `${whole} ${rest} ${small}`;
}
