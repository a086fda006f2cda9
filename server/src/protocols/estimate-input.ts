import type { MemberSpan } from '../kit/json-members.ts';

// Four bytes a token is within a few percent of the true count for English text, at a hundredth of the
// price of tokenizing; the exact number arrives with the provider's usage.
const BYTES_PER_TOKEN = 4;
// An image costs by its size, not by the length of its base64; this is a mid-sized one at high detail.
const TOKENS_PER_IMAGE = 765;
// More than any model writes. A client may send any number, and sums of it must stay safe integers.
export const OUTPUT_TOKENS_MAX = 1_000_000_000;

/**
 * Measured from the named members without reading them. Names and roles count as text and stand for what a provider adds to each
 * message. Numbers are token ids, which embeddings accept: one token each.
 */
export function estimateInput(members: readonly MemberSpan[], named: ReadonlySet<string>): number {
  let textBytes = 0;
  let tokens = 0;
  for (const member of members) {
    if (!named.has(member.name)) continue;
    textBytes += member.textBytes;
    tokens += member.numbers + member.counted * TOKENS_PER_IMAGE;
  }
  return Math.max(1, tokens + Math.ceil(textBytes / BYTES_PER_TOKEN));
}

export function positiveInteger(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;
}
