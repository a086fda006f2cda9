import { type CostRecord, INPUT_KINDS, type Kind } from './export-record.ts';
import type { Policy } from './relay-side.ts';

type Sheet = Readonly<Record<string, unknown>>;

/** The field of each kind of token, and whose price it has without one of its own. */
const FIELDS = {
  input: ['input_cost_micros_per_1m_tokens', null],
  cached_input: ['cached_input_cost_micros_per_1m_tokens', 'input'],
  cache_write_5m: ['cache_write_5m_cost_micros_per_1m_tokens', 'input'],
  cache_write_1h: ['cache_write_1h_cost_micros_per_1m_tokens', 'cache_write_5m'],
  audio_input: ['audio_input_cost_micros_per_1m_tokens', 'input'],
  output: ['output_cost_micros_per_1m_tokens', null],
  audio_output: ['audio_output_cost_micros_per_1m_tokens', 'output'],
} as const satisfies Record<Kind, readonly [keyof Policy, Kind | null]>;

export function fieldOf(kind: Kind): string {
  return FIELDS[kind][0];
}

/** The prices that a kind of token had at a time, the lowest first: several where they depend on the length of the request. */
export function pricesOf(
  policy: Policy,
  kind: Kind,
  atMs: number,
  { serviceTier, aboveInputTokens }: Pick<CostRecord, 'serviceTier' | 'aboveInputTokens'>,
): number[] {
  const begun = policy.scheduled
    .filter(({ valid_from }) => Date.parse(valid_from) <= atMs)
    .toSorted((one, other) => Date.parse(one.valid_from) - Date.parse(other.valid_from))
    .at(-1);
  const sheet: Sheet = begun ?? policy;
  const variants = (begun === undefined ? policy.variants : begun.variants) ?? [];
  const ofTier = variants.filter(
    ({ service_tier }) => service_tier === undefined || service_tier === serviceTier,
  );
  const lengths = [...new Set(ofTier.map(({ above_input_tokens = 0 }) => above_input_tokens))];
  const wanted = aboveInputTokens === null ? [0, ...lengths] : [aboveInputTokens];
  const prices = wanted.map((length) => {
    const applied = ofTier.filter(({ above_input_tokens = 0 }) => above_input_tokens <= length);
    return priceIn(Object.assign({}, sheet, ...applied), kind);
  });
  return [...new Set(prices)].toSorted((one, other) => one - other);
}

function priceIn(sheet: Sheet, kind: Kind): number {
  const [field, otherwise]: readonly [string, Kind | null] = FIELDS[kind];
  const own = sheet[field];
  if (typeof own === 'number') return own;
  return otherwise === null ? 0 : priceIn(sheet, otherwise);
}

export function isInput(kind: Kind): boolean {
  return INPUT_KINDS.includes(kind);
}
