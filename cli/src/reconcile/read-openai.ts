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

const LINE_KINDS: Readonly<Record<string, Kind>> = {
  input: 'input',
  'input text': 'input',
  'text input': 'input',
  'cached input': 'cached_input',
  'input cached': 'cached_input',
  'cached text input': 'cached_input',
  'audio input': 'audio_input',
  'input audio': 'audio_input',
  output: 'output',
  'output text': 'output',
  'text output': 'output',
  'audio output': 'audio_output',
  'output audio': 'audio_output',
};

/** One result of `organization/usage/…`, or one row of the dashboard's export, which has the same names. */
export function openaiUsage(result: Fields, atMs: number, spanMs: number): UsageRecord | null {
  const model = result['model'] ?? result['snapshot_id'];
  if (typeof model !== 'string' || model === '') return null;
  const input = countIn(result['input_tokens'] ?? result['n_context_tokens_total']);
  const cached = countIn(result['input_cached_tokens'] ?? result['n_cached_context_tokens_total']);
  const written = countIn(result['input_cache_write_tokens']);
  const audio = countIn(result['input_audio_tokens']);
  const spoken = countIn(result['output_audio_tokens']);
  const output = countIn(result['output_tokens'] ?? result['n_generated_tokens_total']);
  const requests = result['num_model_requests'] ?? result['n_requests'];
  return {
    atMs,
    spanMs,
    model,
    requests: requests === undefined || requests === null ? null : countIn(requests),
    tokens: usedTokens({
      input: Math.max(0, input - cached - written - audio),
      cached_input: cached,
      cache_write_5m: written,
      cache_write_1h: 0,
      audio_input: audio,
      output: Math.max(0, output - spoken),
      audio_output: spoken,
    }),
  };
}

/** One result of `organization/costs`, by line item: `gpt-4o-2024-08-06, cached input`. */
export function openaiCost(
  result: Fields,
  atMs: number,
): { readonly record: CostRecord | null; readonly digits: number } {
  const { amount } = result;
  const money = picosIn(isObject(amount) ? amount['value'] : result['amount_value']);
  const item = result['line_item'];
  if (money === null || typeof item !== 'string') return { record: null, digits: 0 };
  const [, model = '', said = ''] = /^([^,]+?)(?:,\s*(.+))?$/.exec(item.trim()) ?? [];
  const kind = LINE_KINDS[said.toLowerCase()] ?? null;
  if (kind === null && said !== '') return { record: null, digits: money.digits };
  const record = { atMs, model, kind, serviceTier: null, aboveInputTokens: null, picos: money.picos };
  return { record, digits: money.digits };
}
