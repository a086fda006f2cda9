import { countWords, durationWords, sizeWords } from '@relay/contract/words';

export { counted } from '@relay/contract/words';

const locale = 'en-US';
const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });

const change = new Intl.NumberFormat(locale, {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
});
const points = new Intl.NumberFormat(locale, { maximumFractionDigits: 1, signDisplay: 'exceptZero' });

const dollarsWith = (maximumFractionDigits: number) =>
  new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: 2,
    maximumFractionDigits,
  });
// Formatters are expensive to create and cheap to use; tables have thousands of cells.
const money = dollarsWith(2);
const smallMoney = dollarsWith(6);
const twoDigits = new Intl.NumberFormat(locale, {
  style: 'currency',
  currency: 'USD',
  maximumSignificantDigits: 2,
});
const threeDigits = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 });

export function formatCount(value: number): string {
  return countWords(value);
}

/** 12.5, 0.333: a factor. */
export function formatFactor(value: number): string {
  return threeDigits.format(value);
}

/** 1.2M, for tiles and axes; show the full number in a tooltip or a table. */
export function formatCompact(value: number): string {
  return compact.format(value);
}

/** 97.2%; a share that is not zero is never shown as zero. */
export function formatShare(value: number): string {
  return value > 0 && value < SHARE_MIN / 2 ? `<${percent.format(SHARE_MIN)}` : percent.format(value);
}

const SHARE_MIN = 0.001;

/** +12%: the relative change. */
export function formatChange(value: number): string {
  return change.format(value);
}

/** The difference of two shares, in percentage points. */
export function formatPoints(value: number): string {
  return points.format(value * 100);
}

/** Micro-USD as dollars. Small amounts keep their significant digits; none is rounded to zero. */
export function formatMoney(micros: number): string {
  const dollars = micros / 1_000_000;
  return (micros !== 0 && Math.abs(dollars) < 1 ? smallMoney : money).format(dollars);
}

/** 512 B, 64 KiB, 1.5 MiB. */
export function formatBytes(bytes: number): string {
  return sizeWords(bytes);
}

/** Fewer digits, for axes, tiles and rankings: $12.40, $0.86, $0.0042. */
export function formatMoneyShort(micros: number): string {
  const dollars = micros / 1_000_000;
  return (dollars !== 0 && Math.abs(dollars) < 0.1 ? twoDigits : money).format(dollars);
}

/** 850 ms, 2.4 s, 3 min 20 s: the words of the command line and of errors. Takes one argument, so that charts can call it. */
export function formatDuration(milliseconds: number): string {
  return durationWords(milliseconds);
}

/** Billing systems store these currencies in hundredths, although they have no minor unit. */
const IN_HUNDREDTHS = new Set(['ISK', 'UGX']);

/** An amount in the minor unit of its currency, as on an invoice. */
export function formatAmount(minorUnits: number, currency: string): string {
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency });
  const { maximumFractionDigits: digits = 2 } = format.resolvedOptions();
  return format.format(minorUnits / 10 ** (IN_HUNDREDTHS.has(currency) ? 2 : digits));
}
