import type { OutputMost } from '../../domain/limits/hard-reservation.ts';
import type { TokenEstimate } from '../../domain/money/usage.ts';
import type { Steps } from '../../kit/slices.ts';
import { BYTES_PER_TOKEN, foldedName, type InputMembers, measureInput } from '../estimate-input.ts';
import { boundInput, type InputBound } from '../input-bound/input-at-most.ts';
import { estimatedOutput, type OutputBounds, outputBounds } from '../output-cap.ts';
import { outputMostOf } from '../output-most.ts';
import type { TypicalTokens } from '../protocol.ts';
import type { BodyWithBytes, MeasuredBody } from '../request-body.ts';
import { withUnseenInput } from '../unseen-input.ts';

const MEMBERS: InputMembers = {
  conversation: new Set(['messages', 'input']),
  text: new Set([
    'instructions',
    'tools',
    'functions',
    'response_format',
    'text',
    'prediction',
    'documents',
    'suffix',
  ]),
  settings: new Set(['model', 'metadata', 'user', 'stop', 'logit_bias', 'tool_choice', 'include']),
  remote: new Set(['previous_response_id', 'conversation', 'prompt', 'web_search_options']),
};
/** Chat completions document the newer and the older name, and providers take either. */
const CHAT_CAPS: ReadonlySet<string> = new Set(['max_completion_tokens', 'max_tokens']);
const RESPONSES_CAPS: ReadonlySet<string> = new Set(['max_output_tokens']);
/** What a client predicts, and the model does not write, is charged as output. */
const PREDICTION = 'prediction';

export const chatBounds = (body: MeasuredBody): OutputBounds => outputBounds(body, CHAT_CAPS);
export const responsesBounds = (body: MeasuredBody): OutputBounds => outputBounds(body, RESPONSES_CAPS);

export function estimateTokens(
  body: MeasuredBody,
  bounds: OutputBounds,
  typical: TypicalTokens,
): TokenEstimate {
  const outputTokens = estimatedOutput(bounds, typical.outputTokens) + predictedTokens(body);
  return { ...estimateInput(body, typical), outputTokens };
}

/** The same names for chat completions, responses and embeddings. */
export function openaiInputBound({ bytes, members }: BodyWithBytes): Steps<InputBound> {
  return boundInput(bytes, members, MEMBERS);
}

export function estimateInput(
  body: MeasuredBody,
  typical: TypicalTokens,
): Omit<TokenEstimate, 'outputTokens'> {
  return withUnseenInput(measureInput(body.members, MEMBERS), typical);
}

export function chatMost(body: MeasuredBody): OutputMost {
  return outputMostOf(chatBounds(body), predictedBytes(body));
}

export function responsesMost(body: MeasuredBody): OutputMost {
  return outputMostOf(responsesBounds(body), predictedBytes(body));
}

function predictedBytes({ members }: MeasuredBody): number {
  const predicted = members.filter(({ name }) => foldedName(name) === PREDICTION);
  return predicted.reduce((sum, { start, end }) => sum + end - start, 0);
}

function predictedTokens({ members }: MeasuredBody): number {
  const predicted = members.filter(({ name }) => name === PREDICTION);
  return predicted.reduce((sum, { textBytes }) => sum + Math.ceil(textBytes / BYTES_PER_TOKEN), 0);
}
