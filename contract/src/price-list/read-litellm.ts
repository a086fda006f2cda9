import {
  countIn,
  type Fields,
  inOrder,
  isFields,
  type ListVariant,
  type PriceListEntry,
  type PriceName,
  priceIn,
} from './list-entry.ts';
import { presetOf } from './provider-names.ts';

/** What LiteLLM calls each price, in dollars for a token or a request. */
const LITELLM_PRICES = {
  input_cost_micros_per_1m_tokens: ['input_cost_per_token', 12],
  output_cost_micros_per_1m_tokens: ['output_cost_per_token', 12],
  cached_input_cost_micros_per_1m_tokens: ['cache_read_input_token_cost', 12],
  cache_write_5m_cost_micros_per_1m_tokens: ['cache_creation_input_token_cost', 12],
  cache_write_1h_cost_micros_per_1m_tokens: ['cache_creation_input_token_cost_above_1hr', 12],
  audio_input_cost_micros_per_1m_tokens: ['input_cost_per_audio_token', 12],
  image_input_cost_micros_per_1m_tokens: ['input_cost_per_image_token', 12],
  reasoning_cost_micros_per_1m_tokens: ['output_cost_per_reasoning_token', 12],
  audio_output_cost_micros_per_1m_tokens: ['output_cost_per_audio_token', 12],
  image_output_cost_micros_per_1m_tokens: ['output_cost_per_image_token', 12],
  flat_request_cost_micros: ['input_cost_per_request', 6],
} as const satisfies Record<PriceName, readonly [string, number]>;

const PRICES = Object.entries(LITELLM_PRICES) as [PriceName, readonly [string, number]][];
/** Prices above a length of the input, and in a service tier, are named by suffixes. */
const SUFFIX = /^(?:_above_(\d+)(k?)_tokens)?(?:_(priority|flex|batch(?:es)?))?$/;

const CAPABILITIES = {
  supports_vision: 'vision',
  supports_function_calling: 'tools',
  supports_reasoning: 'reasoning',
  supports_prompt_caching: 'prompt_caching',
  supports_response_schema: 'structured_output',
  supports_audio_input: 'audio_input',
  supports_audio_output: 'audio_output',
  supports_pdf_input: 'pdf_input',
} as const;

/** Every model of `model_prices_and_context_window.json` that has a price for tokens. */
export function readLitellm(file: Fields): PriceListEntry[] {
  return Object.entries(file).flatMap(([key, model]) => {
    if (key === 'sample_spec' || !isFields(model)) return [];
    const provider = String(model['litellm_provider'] ?? '');
    const { base, variants } = litellmPricesOf(model);
    const { input_cost_micros_per_1m_tokens: input } = base;
    const output = base.output_cost_micros_per_1m_tokens ?? (model['mode'] === 'embedding' ? 0 : undefined);
    if (provider === '' || input === undefined || output === undefined) return [];
    const unset = PRICES.map(([name]) => [name, null]);
    return {
      ...(Object.fromEntries(unset) as Record<PriceName, null>),
      ...base,
      provider,
      preset_slug: presetOf(provider),
      host: null,
      model: nameOf(key, provider),
      input_cost_micros_per_1m_tokens: input,
      output_cost_micros_per_1m_tokens: output,
      flat_request_cost_micros: base.flat_request_cost_micros ?? 0,
      variants,
      context_window: countIn(model['max_input_tokens']),
      output_tokens_max: countIn(model['max_output_tokens']),
      capabilities: Object.entries(CAPABILITIES).flatMap(([field, name]) =>
        model[field] === true ? [name] : [],
      ),
    };
  });
}

/** Keys begin with the provider where a model's name alone would not tell them apart. */
function nameOf(key: string, provider: string): string {
  const [first = '', ...rest] = key.split('/');
  if (rest.length === 0) return key;
  const isProvider =
    first === provider || (presetOf(first) !== null && presetOf(first) === presetOf(provider));
  return isProvider ? rest.join('/') : key;
}

/** The prices among the fields of a model, in whole micro-USD. */
export function litellmPricesOf(model: Fields): {
  readonly base: Partial<Record<PriceName, number>>;
  readonly variants: ListVariant[];
} {
  const base: Partial<Record<PriceName, number>> = {};
  const variants = new Map<string, ListVariant>();
  for (const [field, value] of Object.entries(model)) {
    const found = litellmPriceField(field);
    if (found === null) continue;
    const { name, digits, condition } = found;
    const micros = priceIn(value, digits);
    if (micros === undefined) continue;
    if (condition === null) base[name] = micros;
    else {
      const key = JSON.stringify(condition);
      variants.set(key, { ...(variants.get(key) ?? condition), [name]: micros });
    }
  }
  return { base, variants: inOrder(variants.values()) };
}

interface PriceField {
  readonly name: PriceName;
  readonly digits: number;
  /** Null: for all requests. */
  readonly condition: Pick<ListVariant, 'service_tier' | 'above_input_tokens'> | null;
}

/** What a field of LiteLLM's prices; null for every other field. */
export function litellmPriceField(field: string): PriceField | null {
  for (const [name, [listed, digits]] of PRICES) {
    if (!field.startsWith(listed)) continue;
    const suffix = SUFFIX.exec(field.slice(listed.length));
    if (suffix === null) continue;
    const [, length, thousand, tier] = suffix;
    if (length === undefined && tier === undefined) return { name, digits, condition: null };
    const above_input_tokens = Number(length) * (thousand === 'k' ? 1_000 : 1);
    const condition = {
      ...(length !== undefined && { above_input_tokens }),
      ...(tier !== undefined && { service_tier: tier.startsWith('batch') ? 'batch' : tier }),
    };
    return { name, digits, condition };
  }
  return null;
}
