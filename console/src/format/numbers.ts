const locale = undefined;
const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });

export function formatCount(value: number): string {
  return whole.format(value);
}

/** 1.2M for tiles and axes; the whole number belongs into a tooltip or a table. */
export function formatCompact(value: number): string {
  return compact.format(value);
}

export function formatShare(value: number): string {
  return percent.format(value);
}

/** Micro-USD as dollars. Small amounts keep the digits that tell them apart; nothing is rounded to zero. */
export function formatMoney(micros: number): string {
  const dollars = micros / 1_000_000;
  const digits = micros !== 0 && Math.abs(dollars) < 1 ? 6 : 2;
  return new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  }).format(dollars);
}

/** 850 ms, 2.4 s, 3 min 20 s: two figures that a person can compare. */
export function formatDuration(milliseconds: number): string {
  const unit = (value: number, name: string, digits: number) =>
    new Intl.NumberFormat(locale, {
      style: 'unit',
      unit: name,
      unitDisplay: 'short',
      maximumFractionDigits: digits,
    }).format(value);
  if (milliseconds < 1_000) return unit(milliseconds, 'millisecond', 0);
  if (milliseconds < 60_000) return unit(milliseconds / 1_000, 'second', milliseconds < 10_000 ? 2 : 1);
  if (milliseconds < 3_600_000) {
    const minutes = Math.floor(milliseconds / 60_000);
    const seconds = Math.round((milliseconds % 60_000) / 1_000);
    return seconds === 0
      ? unit(minutes, 'minute', 0)
      : `${unit(minutes, 'minute', 0)} ${unit(seconds, 'second', 0)}`;
  }
  return unit(milliseconds / 3_600_000, 'hour', 1);
}
