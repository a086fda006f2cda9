import { perMillionOf } from './amounts.ts';
import type { Resources } from './resources.ts';
import type { Source } from './source.ts';

/** Prices of the entry or of its `model_info`; LiteLLM accepts both. */
export function readPrice(
  source: Source,
  resources: Resources,
  at: string,
  endpoint: string,
  isEmbeddings: boolean,
): void {
  const read = (name: string) => {
    const [ofParams, ofInfo] = [`${at}.litellm_params.${name}`, `${at}.model_info.${name}`];
    const [first, second] = [source.takeNumber(ofParams), source.takeNumber(ofInfo)];
    const value = first ?? second;
    if (value === undefined) return undefined;
    const { value: micros, exact } = perMillionOf(value);
    const path = first === undefined ? ofInfo : ofParams;
    if (!exact)
      source.remark('changed', path, 'It is rounded to a millionth of a dollar for a million tokens.');
    return { micros, path };
  };
  const input = read('input_cost_per_token');
  const output =
    read('output_cost_per_token') ?? (isEmbeddings && input ? { micros: 0, path: '' } : undefined);
  const cached = read('cache_read_input_token_cost');
  if (input !== undefined && output !== undefined) {
    resources.price({
      endpoint,
      input_cost_micros_per_1m_tokens: input.micros,
      output_cost_micros_per_1m_tokens: output.micros,
      ...(cached === undefined ? {} : { cached_input_cost_micros_per_1m_tokens: cached.micros }),
    });
    return;
  }
  for (const alone of [input, output, cached])
    if (alone !== undefined)
      source.remark(
        'not_imported',
        alone.path,
        'A price needs both input_cost_per_token and output_cost_per_token.',
      );
}
