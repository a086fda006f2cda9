import type { Usage } from '../../domain/money/usage.ts';
import { isObject, type JsonObject } from '../../kit/json-value.ts';
import { serviceTierIn } from '../service-tier.ts';
import { tokenCount } from '../token-count.ts';

/**
 * Reads a `usage` object. Anthropic counts what it read from a cache and wrote to one beside `input_tokens`; Relay's input is all
 * three. Null when neither is counted: missing usage is not zero usage. A count that is missing is left out.
 */
export function wholeUsage(value: unknown): Partial<Usage> | null {
  if (!isObject(value)) return null;
  const { input_tokens: given, output_tokens: output } = value;
  if (given == null) return outputUsage(value);
  const input = inputUsage(value);
  if (input === null) return null;
  if (output == null) return input;
  const counted = outputUsage(value);
  return counted === null ? null : { ...input, ...counted };
}

/** The counts of the input; those of the cache are optional. */
export function inputUsage(value: unknown): Omit<Usage, 'outputTokens'> | null {
  if (!isObject(value)) return null;
  const uncached = tokenCount(value['input_tokens']);
  const read = tokenCount(value['cache_read_input_tokens'] ?? 0);
  const written = tokenCount(value['cache_creation_input_tokens'] ?? 0);
  if (uncached === null || read === null || written === null) return null;
  const inputTokens = Math.min(Number.MAX_SAFE_INTEGER, uncached + read + written);
  return {
    inputTokens,
    cachedInputTokens: read,
    ...writesOf(value, written),
    ...serviceTierIn(value['service_tier']),
  };
}

export function outputUsage(value: unknown): Pick<Usage, 'outputTokens'> | null {
  const outputTokens = isObject(value) ? tokenCount(value['output_tokens']) : null;
  return outputTokens === null ? null : { outputTokens };
}

/** What was written, by how long it is kept: 5 minutes unless the provider says otherwise. */
function writesOf(
  { cache_creation: parts }: JsonObject,
  written: number,
): Pick<Usage, 'cacheWrite5mTokens' | 'cacheWrite1hTokens'> {
  if (written === 0) return {};
  const hour = isObject(parts) ? tokenCount(parts['ephemeral_1h_input_tokens']) : null;
  const cacheWrite1hTokens = Math.min(hour ?? 0, written);
  return { cacheWrite5mTokens: written - cacheWrite1hTokens, cacheWrite1hTokens };
}
