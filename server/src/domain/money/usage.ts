/** What a provider reported for one request. Absent counts are zero only where the provider said so. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
}

/**
 * Reads the `usage` object of any of the three operations (chat and embeddings say prompt and completion,
 * responses says input and output). Null for anything that does not report an input count: missing usage
 * is not zero usage.
 */
export function parseUsage(value: unknown): Usage | null {
  if (!isRecord(value)) return null;
  const inputTokens = count(value['prompt_tokens']) ?? count(value['input_tokens']);
  if (inputTokens === null) return null;
  const totalTokens = count(value['total_tokens']);
  const outputTokens =
    count(value['completion_tokens']) ??
    count(value['output_tokens']) ??
    Math.max(0, (totalTokens ?? inputTokens) - inputTokens);
  const details = value['prompt_tokens_details'] ?? value['input_tokens_details'];
  const cached = isRecord(details) ? count(details['cached_tokens']) : null;
  return { inputTokens, outputTokens, cachedInputTokens: Math.min(cached ?? 0, inputTokens) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
