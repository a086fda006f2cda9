import type { MemberSpan } from '../../kit/json-members.ts';
import type { Operation } from '../routing/operation.ts';

/** What a request is expected to use, before anything is sent. */
export interface TokenEstimate {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

// Four bytes a token is within a few percent of the true count for English text, at a hundredth of the
// price of tokenising; the exact number arrives with the provider's usage.
const BYTES_PER_TOKEN = 4;
// An image costs by its size, not by the length of its base64; this is a mid-sized one at high detail.
const TOKENS_PER_IMAGE = 765;
// More than any model writes. A client may ask for any number, and what it asks for must stay one that can
// be added up and stored.
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

/** A request body as far as an estimate needs it. */
export interface MeasuredBody {
  readonly members: readonly MemberSpan[];
  readonly settings: Readonly<Record<string, unknown>>;
}

export function estimateTokens(
  operation: Operation,
  body: MeasuredBody,
  typicalOutputTokens: number,
): TokenEstimate {
  const inputTokens = estimateInput(body.members);
  if (operation === 'embeddings') return { inputTokens, outputTokens: 0 };
  const cap = outputCap(body.settings);
  const choices = positiveInteger(body.settings['n']) ?? 1;
  return { inputTokens, outputTokens: Math.min(OUTPUT_TOKENS_MAX, (cap ?? typicalOutputTokens) * choices) };
}

/** The client's own bound on the output, by any of the names the operations use for it. */
export function outputCap(body: Readonly<Record<string, unknown>>): number | null {
  return (
    positiveInteger(body['max_completion_tokens']) ??
    positiveInteger(body['max_output_tokens']) ??
    positiveInteger(body['max_tokens'])
  );
}

/**
 * From what lies inside the members, without reading it: names and roles count as text and stand for what a provider
 * adds to each message. Numbers are token ids, which embeddings accept: one each.
 */
function estimateInput(members: readonly MemberSpan[]): number {
  let textBytes = 0;
  let tokens = 0;
  for (const member of members) {
    if (!INPUT_MEMBERS.has(member.name)) continue;
    textBytes += member.textBytes;
    tokens += member.numbers + member.images * TOKENS_PER_IMAGE;
  }
  return Math.max(1, tokens + Math.ceil(textBytes / BYTES_PER_TOKEN));
}

function positiveInteger(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;
}
