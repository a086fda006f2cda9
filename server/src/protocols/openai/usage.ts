import type { Usage } from '../../domain/money/usage.ts';
import { isObject, type JsonObject } from '../../kit/json-value.ts';
import { usageMemberRules } from '../answer-usage.ts';
import { serviceTierIn } from '../service-tier.ts';
import { tokenCount } from '../token-count.ts';

/**
 * Reads the `usage` object of all OpenAI protocols: chat completions and embeddings count prompt and completion tokens, responses
 * count input and output tokens. Null when none is reported, or a count is not a number of tokens: missing usage is not zero usage. The side that
 * neither is reported nor follows from a total is left out.
 */
export function parseUsage(value: unknown, serviceTier?: unknown): Partial<Usage> | null {
  if (!isObject(value)) return null;
  const total = tokenCount(value['total_tokens']);
  const input = value['prompt_tokens'] ?? value['input_tokens'];
  const output = value['completion_tokens'] ?? value['output_tokens'];
  if (input == null) {
    const written = tokenCount(output);
    if (written === null) return null;
    const rest = total === null || total < written ? {} : { inputTokens: total - written };
    return { ...rest, outputTokens: written, ...outputParts(value, 0), ...serviceTierIn(serviceTier) };
  }
  const prompt = tokenCount(input);
  if (prompt === null) return null;
  if (output == null && total === null)
    return { inputTokens: prompt, ...inputParts(value, prompt), ...serviceTierIn(serviceTier) };
  const rest = Math.max(0, (total ?? prompt) - prompt);
  const said = tokenCount(output ?? rest);
  if (said === null) return null;
  const beyond = Math.max(0, rest - said);
  // Some providers count reasoning in the total only, and some what a cache held.
  const isCache = cachedIn(value) > prompt;
  const inputTokens = isCache ? prompt + beyond : prompt;
  const hidden = isCache ? 0 : beyond;
  return {
    inputTokens,
    outputTokens: said + hidden,
    ...inputParts(value, inputTokens),
    ...outputParts(value, hidden),
    ...serviceTierIn(serviceTier),
  };
}

function inputParts(
  value: JsonObject,
  inputTokens: number,
): Pick<Usage, 'cachedInputTokens'> & Partial<Usage> {
  const details = inputDetails(value);
  return {
    cachedInputTokens: Math.min(cachedIn(value), inputTokens),
    ...some('cacheWrite5mTokens', details['cache_write_tokens']),
    ...some('audioInputTokens', details['audio_tokens']),
    ...some('imageInputTokens', details['image_tokens']),
  };
}

function inputDetails(value: JsonObject): JsonObject {
  return objectIn(value, 'prompt_tokens_details', 'input_tokens_details');
}

/** Mistral and DeepSeek count what was read from a cache beside the other counts. */
function cachedIn(value: JsonObject): number {
  return countIn(
    inputDetails(value)['cached_tokens'] ?? value['num_cached_tokens'] ?? value['prompt_cache_hit_tokens'],
  );
}

function outputParts(value: JsonObject, hidden: number): Partial<Usage> {
  const details = objectIn(value, 'completion_tokens_details', 'output_tokens_details');
  return {
    ...some('reasoningTokens', Math.max(hidden, countIn(details['reasoning_tokens']))),
    ...some('audioOutputTokens', details['audio_tokens']),
    ...some('imageOutputTokens', details['image_tokens']),
  };
}

function objectIn(value: JsonObject, ...names: readonly string[]): JsonObject {
  return names.map((name) => value[name]).find(isObject) ?? {};
}

function countIn(value: unknown): number {
  return tokenCount(value) ?? 0;
}

function some(name: keyof Usage, value: unknown): Partial<Usage> {
  const count = countIn(value);
  return count > 0 ? { [name]: count } : {};
}

/** Text of chat completions and responses; embeddings have none. */
export const openaiAnswer = usageMemberRules(parseUsage, [
  'content',
  'text',
  'refusal',
  'reasoning',
  'reasoning_content',
  'arguments',
  'transcript',
]);

/** Adds an output of 0, because the protocol has no output. */
export function embeddingsUsage(value: unknown, serviceTier?: unknown): Partial<Usage> | null {
  const usage = parseUsage(value, serviceTier);
  return usage === null ? null : { outputTokens: 0, ...usage };
}

export const embeddingsAnswer = usageMemberRules(embeddingsUsage);
