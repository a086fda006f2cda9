import { type Operation, operationPaths, type RouteKind } from '../../domain/routing/operation.ts';

/** The least that a provider bills for; the Responses API takes no smaller cap than 16. */
const RESPONSES_OUTPUT_TOKENS_MIN = 16;
const PROMPT = 'Hi';

export function operationOf(kind: RouteKind): Operation {
  return kind === 'multi' ? 'chat' : kind;
}

export interface TestRequest {
  readonly path: string;
  readonly body: Buffer;
}

/** `cap`: how the most output of a chat is said; newer models of some providers take only the second. */
export function testRequest(
  operation: Operation,
  model: string,
  cap: 'max_tokens' | 'max_completion_tokens' = 'max_tokens',
): TestRequest {
  const bodies = {
    chat: { model, messages: [{ role: 'user', content: PROMPT }], [cap]: 1 },
    responses: { model, input: PROMPT, max_output_tokens: RESPONSES_OUTPUT_TOKENS_MIN, store: false },
    embeddings: { model, input: PROMPT },
  };
  return { path: operationPaths[operation], body: Buffer.from(JSON.stringify(bodies[operation])) };
}

/** The field that holds what was asked for. */
const ANSWER_FIELDS: Readonly<Record<Operation, string>> = {
  chat: 'choices',
  responses: 'output',
  embeddings: 'data',
};

export function isAnswerOf(operation: Operation, answer: unknown): boolean {
  if (typeof answer !== 'object' || answer === null) return false;
  return Array.isArray((answer as Record<string, unknown>)[ANSWER_FIELDS[operation]]);
}
