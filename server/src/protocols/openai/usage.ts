import type { Usage } from '../../domain/money/usage.ts';
import { isObject } from '../../kit/json-value.ts';
import { usageMemberRules } from '../answer-usage.ts';

/**
 * Reads the `usage` object of all OpenAI protocols: chat completions and embeddings count prompt and completion tokens, responses
 * count input and output tokens. Null when no input count is reported: missing usage is not zero usage.
 */
export function parseUsage(value: unknown): Usage | null {
  if (!isObject(value)) return null;
  const inputTokens = count(value['prompt_tokens']) ?? count(value['input_tokens']);
  if (inputTokens === null) return null;
  const totalTokens = count(value['total_tokens']);
  const outputTokens =
    count(value['completion_tokens']) ??
    count(value['output_tokens']) ??
    Math.max(0, (totalTokens ?? inputTokens) - inputTokens);
  const details = value['prompt_tokens_details'] ?? value['input_tokens_details'];
  const cached = isObject(details) ? count(details['cached_tokens']) : null;
  return { inputTokens, outputTokens, cachedInputTokens: Math.min(cached ?? 0, inputTokens) };
}

export const openaiAnswer = usageMemberRules(parseUsage);

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
