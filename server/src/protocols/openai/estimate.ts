import type { TokenEstimate } from '../../domain/money/usage.ts';
import type { MemberSpan } from '../../kit/json-members.ts';
import type { MeasuredBody, RequestSettings } from '../request-body.ts';

// Four bytes a token is within a few percent of the true count for English text, at a hundredth of the
// price of tokenizing; the exact number arrives with the provider's usage.
const BYTES_PER_TOKEN = 4;
// An image costs by its size, not by the length of its base64; this is a mid-sized one at high detail.
const TOKENS_PER_IMAGE = 765;
// More than any model writes. A client may send any number, and sums of it must stay safe integers.
const OUTPUT_TOKENS_MAX = 1_000_000_000;

/** Members whose text is read by the model as input. */
const INPUT_MEMBERS = new Set([
  'messages',
  'input',
  'instructions',
  'tools',
  'functions',
  'response_format',
  'text',
]);

export function estimateTokens(body: MeasuredBody, typicalOutputTokens: number): TokenEstimate {
  const cap = outputCap(body.settings);
  const choices = positiveInteger(body.settings['n']) ?? 1;
  return {
    inputTokens: estimateInput(body.members),
    outputTokens: Math.min(OUTPUT_TOKENS_MAX, (cap ?? typicalOutputTokens) * choices),
  };
}

/** The client's limit on the output. Compatible providers accept every name, so every name counts. */
export function outputCap(settings: RequestSettings): number | null {
  return (
    positiveInteger(settings['max_completion_tokens']) ??
    positiveInteger(settings['max_output_tokens']) ??
    positiveInteger(settings['max_tokens'])
  );
}

/**
 * Measured from the members without reading them. Names and roles count as text and stand for what a provider adds to each
 * message. Numbers are token ids, which embeddings accept: one token each.
 */
export function estimateInput(members: readonly MemberSpan[]): number {
  let textBytes = 0;
  let tokens = 0;
  for (const member of members) {
    if (!INPUT_MEMBERS.has(member.name)) continue;
    textBytes += member.textBytes;
    tokens += member.numbers + member.counted * TOKENS_PER_IMAGE;
  }
  return Math.max(1, tokens + Math.ceil(textBytes / BYTES_PER_TOKEN));
}

function positiveInteger(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;
}
