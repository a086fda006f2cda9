import { InvalidArgumentError } from 'commander';

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** `30s`, `15m`, `24h`, `7d` or `2w`, in milliseconds. */
function durationMs(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  if (amount === undefined) throw new InvalidArgumentError('Write it like 30s, 15m, 24h, 7d or 2w.');
  return Number(amount) * (UNIT_MS[unit] ?? 0);
}

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
