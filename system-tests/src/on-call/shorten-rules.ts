/** An hour of the rules is two minutes here. */
const TIMES_SHORTER = 30;

const SECONDS = { s: 1, m: 60, h: 3_600 } as const;
const DURATION = /(?<=\[|for: )(\d+)([smh])\b/g;
/** Ages that a threshold bounds. Others are no ages, or come from a timer that runs as it always does. */
const AGE =
  /\b(relay_ledger_lag_seconds\)?|relay_configuration_age_seconds|relay_endpoint_silent_seconds\)) > (\d+)/g;

/**
 * The shipped rules with every range, every `for` and the thresholds of ages shortened by one factor. Nothing else changes: not
 * shares, not counts.
 */
export function shortenRules(rules: string): string {
  return rules
    .replaceAll(DURATION, (_, count: string, unit: keyof typeof SECONDS) => {
      const seconds = (Number(count) * SECONDS[unit]) / TIMES_SHORTER;
      return `${Math.max(1, Math.round(seconds))}s`;
    })
    .replaceAll(
      AGE,
      (_, metric: string, seconds: string) => `${metric} > ${Number(seconds) / TIMES_SHORTER}`,
    );
}
