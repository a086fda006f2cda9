/** Kinds of tokens that providers report and bill apart. `input` is what none of the others is. */
export const KINDS = [
  'input',
  'cached_input',
  'cache_write_5m',
  'cache_write_1h',
  'audio_input',
  'output',
  'audio_output',
] as const;
export type Kind = (typeof KINDS)[number];
export const INPUT_KINDS: readonly Kind[] = KINDS.slice(0, 5);

export type Tokens = Readonly<Partial<Record<Kind, number>>>;

/** What a provider says was used of a model in a time. */
export interface UsageRecord {
  readonly atMs: number;
  readonly spanMs: number;
  readonly model: string;
  /** Null where the export does not count requests. */
  readonly requests: number | null;
  readonly tokens: Tokens;
}

/** What a provider bills for a model on a day. */
export interface CostRecord {
  readonly atMs: number;
  readonly model: string;
  /** Null: for everything of the model. */
  readonly kind: Kind | null;
  readonly serviceTier: string | null;
  /** Only for requests with more input than this. */
  readonly aboveInputTokens: number | null;
  readonly picos: bigint;
}

export interface ProviderExport {
  readonly format: 'openai' | 'anthropic';
  readonly usage: readonly UsageRecord[];
  readonly costs: readonly CostRecord[];
  /** Costs without a model, such as storage or web search; they are left out. */
  readonly otherCosts: number;
  /** By how much an amount may be off, in 10⁻¹² dollar: half of the last digit that the file writes. */
  readonly tolerancePicos: bigint;
  readonly isPartial: boolean;
}

export const DAY_MS = 86_400_000;
export const HOUR_MS = 3_600_000;
const PICO_DIGITS = 12;

/** A decimal amount in 10⁻¹² dollar, and how many of its digits are written. `shift` is the digits of its unit: 2 for cents. */
export function picosIn(written: unknown, shift = 0): { picos: bigint; digits: number } | null {
  const match = /^(-?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(String(written).trim());
  if (match === null || String(written).trim() === '') return null;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = Math.max(0, fraction.length - Number(exponent) + shift);
  const places = PICO_DIGITS - shift + Number(exponent) - fraction.length;
  const scaled = BigInt(`${whole}${fraction}` || '0');
  const divisor = 10n ** BigInt(Math.max(0, -places));
  const picos = places >= 0 ? scaled * 10n ** BigInt(places) : (scaled + divisor / 2n) / divisor;
  return { picos: sign === '-' ? -picos : picos, digits };
}

/** Half of the last written digit; a file whose amounts are all round still says them to a cent. */
export function toleranceOf(digits: readonly number[]): bigint {
  const most = Math.min(PICO_DIGITS, Math.max(2, ...digits));
  return (10n ** BigInt(PICO_DIGITS - most) + 1n) / 2n;
}

export function countIn(value: unknown): number {
  const count = Number(value ?? 0);
  return Number.isFinite(count) ? count : 0;
}

/** Kinds that were used. */
export function usedTokens(tokens: Readonly<Record<Kind, number>> | Tokens): Tokens {
  return Object.fromEntries(Object.entries(tokens).filter(([, count]) => count > 0));
}
