import type { Operation } from './operation.ts';

/** What a request is expected to use, before anything is sent. */
export interface TokenEstimate {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

// Four bytes a token is within a few percent of the true count for English text, at a hundredth of the
// price of tokenising; the exact number arrives with the provider's usage.
const BYTES_PER_TOKEN = 4;
const TOKENS_PER_MESSAGE = 4;
// An image costs by its size, not by the length of its base64; this is a mid-sized one at high detail.
const TOKENS_PER_IMAGE = 765;

export function estimateTokens(
  operation: Operation,
  body: Readonly<Record<string, unknown>>,
  typicalOutputTokens: number,
): TokenEstimate {
  const inputTokens = estimateInput(operation, body);
  if (operation === 'embeddings') return { inputTokens, outputTokens: 0 };
  const cap = outputCap(body);
  const choices = positiveInteger(body['n']) ?? 1;
  return { inputTokens, outputTokens: (cap ?? typicalOutputTokens) * choices };
}

/** The client's own bound on the output, by any of the names the operations use for it. */
export function outputCap(body: Readonly<Record<string, unknown>>): number | null {
  return (
    positiveInteger(body['max_completion_tokens']) ??
    positiveInteger(body['max_output_tokens']) ??
    positiveInteger(body['max_tokens'])
  );
}

function estimateInput(operation: Operation, body: Readonly<Record<string, unknown>>): number {
  const content = operation === 'chat' ? body['messages'] : body['input'];
  const extra = textBytes(body['instructions']) + textBytes(body['tools']);
  const fixed = operation === 'chat' && Array.isArray(content) ? content.length * TOKENS_PER_MESSAGE : 0;
  return Math.max(1, fixed + Math.ceil((textBytes(content) + extra) / BYTES_PER_TOKEN));
}

/**
 * Bytes of text anywhere inside, images counted at their price in tokens. The body's depth was bounded
 * when it was received, and so is this recursion. Numbers are token ids (embeddings accept them): one each.
 */
function textBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value, 'utf8');
  if (typeof value === 'number') return BYTES_PER_TOKEN;
  if (Array.isArray(value)) {
    let sum = 0;
    for (const item of value) sum += textBytes(item);
    return sum;
  }
  if (typeof value !== 'object' || value === null) return 0;
  let sum = 0;
  for (const [name, member] of Object.entries(value)) {
    if (name === 'type' || name === 'role' || name === 'id') continue;
    sum += name === 'image_url' ? TOKENS_PER_IMAGE * BYTES_PER_TOKEN : textBytes(member);
  }
  return sum;
}

function positiveInteger(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;
}
