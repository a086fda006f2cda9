import type { ConfigPricingPolicy } from '@relay/contract';
import { litellmPriceField, litellmPricesOf } from '@relay/contract/price-list';
import { perMillionOf } from './amounts.ts';
import type { Resources } from './resources.ts';
import type { Source } from './source.ts';

const INPUT = 'input_cost_per_token';
const OUTPUT = 'output_cost_per_token';

/** Prices of the entry or of its `model_info`; LiteLLM accepts both, of every kind that its price list has. */
export function readPrice(
  source: Source,
  resources: Resources,
  at: string,
  endpoint: string,
  isEmbeddings: boolean,
): void {
  const taken = takePrices(source, at);
  const fields = Object.fromEntries([...taken].map(([name, { value }]) => [name, value]));
  if (isEmbeddings && taken.has(INPUT)) fields[OUTPUT] ??= 0;
  const { base, variants } = litellmPricesOf(fields);
  const { input_cost_micros_per_1m_tokens: input, output_cost_micros_per_1m_tokens: output, ...parts } = base;
  if (input === undefined || output === undefined) {
    for (const { path } of taken.values())
      source.remark('not_imported', path, `A price needs both ${INPUT} and ${OUTPUT}.`);
    return;
  }
  const price: ConfigPricingPolicy = {
    endpoint,
    input_cost_micros_per_1m_tokens: input,
    output_cost_micros_per_1m_tokens: output,
    ...parts,
    ...(variants.length > 0 && { variants }),
  };
  resources.price(price);
}

interface Taken {
  readonly value: number;
  readonly path: string;
}

/** The prices by name; those of the parameters count where `model_info` has them too. */
function takePrices(source: Source, at: string): Map<string, Taken> {
  const taken = new Map<string, Taken>();
  for (const place of [`${at}.model_info`, `${at}.litellm_params`])
    for (const name of source.keys(place)) {
      if (litellmPriceField(name) === null) continue;
      const path = `${place}.${name}`;
      const value = source.takeNumber(path);
      if (value === undefined) continue;
      taken.set(name, { value, path });
    }
  for (const [name, { value, path }] of taken)
    if (litellmPriceField(name)?.digits === PER_TOKEN_DIGITS && !perMillionOf(value).exact)
      source.remark('changed', path, 'Relay rounds it to the nearest $0.000001 per 1M tokens.');
  return taken;
}

const PER_TOKEN_DIGITS = 12;
