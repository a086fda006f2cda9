import type { Usage } from '../../domain/money/usage.ts';
import { isObject } from '../../kit/json-value.ts';
import { usageMemberRules } from '../answer-usage.ts';
import { tokenCount } from '../token-count.ts';

/**
 * Reads the `usage` object of all OpenAI protocols: chat completions and embeddings count prompt and completion tokens, responses
 * count input and output tokens. Null when no input count is reported, or a count is not a number of tokens: missing usage is not zero usage.
 */
export function parseUsage(value: unknown): Usage | null {
  if (!isObject(value)) return null;
  const inputTokens = tokenCount(value['prompt_tokens'] ?? value['input_tokens']);
  const total = value['total_tokens'];
  const output = value['completion_tokens'] ?? value['output_tokens'];
  if (inputTokens === null) return null;
  const outputTokens = tokenCount(output ?? Math.max(0, (tokenCount(total) ?? inputTokens) - inputTokens));
  if (outputTokens === null) return null;
  const details = value['prompt_tokens_details'] ?? value['input_tokens_details'];
  const cached = isObject(details) ? tokenCount(details['cached_tokens']) : null;
  return { inputTokens, outputTokens, cachedInputTokens: Math.min(cached ?? 0, inputTokens) };
}

export const openaiAnswer = usageMemberRules(parseUsage);
