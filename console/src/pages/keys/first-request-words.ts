import type { RequestLogEntry } from '@relay/contract';
import { formatCount, formatDuration, formatMoneyShort } from '../../format/numbers.ts';
import { causeOf } from '../../parts/failure-words.ts';
import { text } from '../../text/index.ts';

const words = text.keys.firstRequest;

/** "assistant → gpt-5 · waited 0.8 s · 200 in 2.3 s · 12 input · 40 output tokens · $0.0041", and why it failed. */
export function firstRequestWords(entry: RequestLogEntry): { passage: string; cause: string | null } {
  const { model, upstream_model: upstream, wait_ms: waitMs, error_code: code } = entry;
  const parts = [
    [model ?? text.requests.noModel, upstream].filter((name) => name !== null && name !== '').join(' → '),
    ...(waitMs > 0 ? [words.waited(formatDuration(waitMs))] : []),
    words.took(String(entry.http_status), formatDuration(entry.duration_ms)),
    ...tokensOf(entry),
    ...(entry.cost_micros === null ? [] : [formatMoneyShort(entry.cost_micros)]),
  ];
  return { passage: parts.join(' · '), cause: code === null ? null : causeOf(code) };
}

function tokensOf({ input_tokens: input, output_tokens: output }: RequestLogEntry): readonly string[] {
  return input === null || output === null ? [] : [words.tokens(formatCount(input), formatCount(output))];
}
