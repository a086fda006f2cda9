import {
  countIn,
  type Fields,
  inOrder,
  isFields,
  type ListedPrices,
  type ListVariant,
  type PriceListEntry,
  type PriceName,
  priceIn,
} from './list-entry.ts';
import { presetOf } from './provider-names.ts';

/** What models.dev calls each price, in dollars for a million tokens. It has none of the others. */
const PRICES = {
  input_cost_micros_per_1m_tokens: 'input',
  output_cost_micros_per_1m_tokens: 'output',
  cached_input_cost_micros_per_1m_tokens: 'cache_read',
  cache_write_5m_cost_micros_per_1m_tokens: 'cache_write',
  reasoning_cost_micros_per_1m_tokens: 'reasoning',
  audio_input_cost_micros_per_1m_tokens: 'input_audio',
  audio_output_cost_micros_per_1m_tokens: 'output_audio',
} as const satisfies Partial<Record<PriceName, string>>;
const NAMES = Object.keys(PRICES) as (keyof typeof PRICES)[];
const DIGITS = 6;
const LONG_CONTEXT = 200_000;

/** Every model of models.dev's `api.json` that has a price for tokens. */
export function readModelsDev(file: Fields): PriceListEntry[] {
  return Object.entries(file).flatMap(([provider, listed]) => {
    if (!isFields(listed) || !isFields(listed['models'])) return [];
    const host = hostOf(listed['api']);
    return Object.entries(listed['models']).flatMap(([model, fields]) =>
      isFields(fields) ? entryOf(provider, host, model, fields) : [],
    );
  });
}

function entryOf(provider: string, host: string | null, model: string, fields: Fields): PriceListEntry[] {
  const { cost, limit } = fields;
  if (!isFields(cost)) return [];
  const base = pricesOf(cost);
  const { input_cost_micros_per_1m_tokens: input, output_cost_micros_per_1m_tokens: output } = base;
  if (input === undefined || output === undefined) return [];
  const limits = isFields(limit) ? limit : {};
  return [
    {
      ...(Object.fromEntries(NAMES.map((name) => [name, null])) as Record<keyof typeof PRICES, null>),
      ...base,
      provider,
      preset_slug: presetOf(provider),
      host,
      model,
      input_cost_micros_per_1m_tokens: input,
      output_cost_micros_per_1m_tokens: output,
      variants: variantsOf(cost),
      context_window: countIn(limits['context']),
      output_tokens_max: countIn(limits['output']),
      capabilities: capabilitiesOf(fields),
    },
  ];
}

function pricesOf(cost: Fields): ListedPrices {
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const micros = priceIn(cost[PRICES[name]], DIGITS);
      return micros === undefined ? [] : [[name, micros]];
    }),
  );
}

/** Prices by length: the list of tiers, or what it replaced. */
function variantsOf(cost: Fields): ListVariant[] {
  const tiers = Array.isArray(cost['tiers']) ? cost['tiers'].filter(isFields) : [];
  const listed = tiers.flatMap((tier) => {
    const at = isFields(tier['tier']) ? tier['tier'] : {};
    const size = at['type'] === 'context' ? countIn(at['size']) : null;
    return size === null ? [] : [{ above_input_tokens: size, ...pricesOf(tier) }];
  });
  const long = cost['context_over_200k'];
  if (listed.length > 0 || !isFields(long)) return inOrder(listed);
  return [{ above_input_tokens: LONG_CONTEXT, ...pricesOf(long) }];
}

function capabilitiesOf(fields: Fields): string[] {
  const modalities = isFields(fields['modalities']) ? fields['modalities'] : {};
  const takes = (kind: string) => Array.isArray(modalities['input']) && modalities['input'].includes(kind);
  const gives = (kind: string) => Array.isArray(modalities['output']) && modalities['output'].includes(kind);
  const found: Readonly<Record<string, boolean>> = {
    vision: takes('image'),
    tools: fields['tool_call'] === true,
    reasoning: fields['reasoning'] === true,
    structured_output: fields['structured_output'] === true,
    audio_input: takes('audio'),
    audio_output: gives('audio'),
    pdf_input: takes('pdf'),
  };
  return Object.keys(found).filter((name) => found[name] === true);
}

function hostOf(api: unknown): string | null {
  return typeof api === 'string' && URL.canParse(api) ? new URL(api).host : null;
}
