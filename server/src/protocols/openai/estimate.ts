import type { TokenEstimate } from '../../domain/money/usage.ts';
import type { MemberSpan } from '../../kit/json-members.ts';
import { estimateInput, OUTPUT_TOKENS_MAX, positiveInteger } from '../estimate-input.ts';
import type { MeasuredBody, RequestSettings } from '../request-body.ts';

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
    inputTokens: openaiInput(body.members),
    outputTokens: Math.min(OUTPUT_TOKENS_MAX, (cap ?? typicalOutputTokens) * choices),
  };
}

export function openaiInput(members: readonly MemberSpan[]): number {
  return estimateInput(members, INPUT_MEMBERS);
}

/** The client's limit on the output. Compatible providers accept every name, so every name counts. */
export function outputCap(settings: RequestSettings): number | null {
  return (
    positiveInteger(settings['max_completion_tokens']) ??
    positiveInteger(settings['max_output_tokens']) ??
    positiveInteger(settings['max_tokens'])
  );
}
