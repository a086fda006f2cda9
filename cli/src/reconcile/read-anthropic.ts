import { isObject } from '../kit/values.ts';
import {
  type CostRecord,
  countIn,
  type Kind,
  picosIn,
  type UsageRecord,
  usedTokens,
} from './export-record.ts';

type Fields = Readonly<Record<string, unknown>>;

const TOKEN_TYPES: Readonly<Record<string, Kind>> = {
  uncached_input_tokens: 'input',
  input_no_cache: 'input',
  cache_read_input_tokens: 'cached_input',
  input_cache_read: 'cached_input',
  'cache_creation.ephemeral_5m_input_tokens': 'cache_write_5m',
  input_cache_write_5m: 'cache_write_5m',
  'cache_creation.ephemeral_1h_input_tokens': 'cache_write_1h',
  input_cache_write_1h: 'cache_write_1h',
  output_tokens: 'output',
  output: 'output',
};
const LONG_CONTEXT = 200_000;
const CENT_DIGITS = 2;

/** One result of `usage_report/messages`, or one row of the console's export. It does not count requests. */
export function anthropicUsage(result: Fields, atMs: number, spanMs: number): UsageRecord | null {
  const model = result['model'] ?? result['model_version'];
  if (typeof model !== 'string' || model === '') return null;
  const written = isObject(result['cache_creation']) ? result['cache_creation'] : {};
  return {
    atMs,
    spanMs,
    model,
    requests: null,
    tokens: usedTokens({
      input: countIn(result['uncached_input_tokens'] ?? result['usage_input_tokens_no_cache']),
      cached_input: countIn(result['cache_read_input_tokens'] ?? result['usage_input_tokens_cache_read']),
      cache_write_5m: countIn(
        written['ephemeral_5m_input_tokens'] ?? result['usage_input_tokens_cache_write_5m'],
      ),
      cache_write_1h: countIn(
        written['ephemeral_1h_input_tokens'] ?? result['usage_input_tokens_cache_write_1h'],
      ),
      audio_input: 0,
      output: countIn(result['output_tokens'] ?? result['usage_output_tokens']),
      audio_output: 0,
    }),
  };
}

/** One result of `cost_report`, in cents, or one row of the console's export, in dollars. */
export function anthropicCost(
  result: Fields,
  atMs: number,
): { readonly record: CostRecord | null; readonly digits: number } {
  const { model, token_type, cost_type, service_tier, usage_type, context_window } = result;
  const money =
    result['cost_usd'] === undefined ? picosIn(result['amount'], CENT_DIGITS) : picosIn(result['cost_usd']);
  const isTokens = cost_type === undefined || cost_type === null || /^tokens?$/.test(String(cost_type));
  if (money === null || typeof model !== 'string' || model === '' || !isTokens)
    return { record: null, digits: money?.digits ?? 0 };
  const tier = String(service_tier ?? usage_type ?? '').toLowerCase();
  const kind = typeof token_type === 'string' ? (TOKEN_TYPES[token_type] ?? null) : null;
  const record = {
    atMs,
    model,
    kind,
    serviceTier: ['', 'standard', 'message'].includes(tier) ? null : tier,
    aboveInputTokens: /^(?:>\s*200k|200k-1m)$/i.test(String(context_window)) ? LONG_CONTEXT : null,
    picos: money.picos,
  };
  return { record, digits: money.digits };
}
