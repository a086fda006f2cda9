import { FORBIDDEN_WORD } from './guardrail-behaviours.ts';

/** A moderation service as its documentation describes it: what it wants, and what it answers. */
export interface GuardrailService {
  /** The header that carries the key, and what stands before the key in it. */
  readonly key: { readonly header: string; readonly prefix: string };
  /** The address below the simulator's own. */
  readonly path: string;
  /** The words to judge; undefined when the request is not one that the service takes. */
  textOf(body: Readonly<Record<string, unknown>>): string | undefined;
  answerTo(flagged: boolean): unknown;
}

const bearer = { header: 'authorization', prefix: 'Bearer ' };

export const guardrailServices = {
  openai: {
    key: bearer,
    path: '/openai/v1/moderations',
    textOf: ({ model, input }) => (typeof model === 'string' ? text(input) : undefined),
    answerTo: (flagged) => ({
      id: 'modr-1',
      model: 'omni-moderation-latest',
      results: [
        {
          flagged,
          categories: { violence: flagged, hate: false },
          category_scores: { violence: flagged ? 0.97 : 0.001, hate: 0.0002 },
          category_applied_input_types: { violence: ['text'], hate: ['text'] },
        },
      ],
    }),
  },
  azure: {
    key: { header: 'ocp-apim-subscription-key', prefix: '' },
    path: '/azure/contentsafety/text:analyze?api-version=2024-09-01',
    textOf: ({ text: given, categories, outputType }) =>
      Array.isArray(categories) && outputType === 'FourSeverityLevels' ? text(given) : undefined,
    answerTo: (flagged) => ({
      blocklistsMatch: [],
      categoriesAnalysis: ['Hate', 'SelfHarm', 'Sexual', 'Violence'].map((category) => ({
        category,
        severity: flagged && category === 'Violence' ? 4 : 0,
      })),
    }),
  },
  lakera: {
    key: bearer,
    path: '/lakera/v2/guard',
    textOf: ({ messages }) => textOfMessages(messages),
    answerTo: (flagged) => ({ flagged, metadata: { request_uuid: '8b2b6c1c-9f7a-4f8a-9c2d-8a44ca72e975' } }),
  },
  mistral: {
    key: bearer,
    path: '/mistral/v1/moderations',
    textOf: ({ model, input }) =>
      typeof model === 'string' && Array.isArray(input) && input.length === 1 ? text(input[0]) : undefined,
    answerTo: (flagged) => ({
      id: '4d71ae510af942108ef7344f903e2b88',
      model: 'mistral-moderation-latest',
      results: [
        {
          categories: { sexual: false, violence_and_threats: flagged, health: false, pii: false },
          category_scores: { sexual: 0, violence_and_threats: flagged ? 0.9 : 0.01, health: 0, pii: 0 },
        },
      ],
    }),
  },
  llama: {
    key: bearer,
    path: '/llama/v1/chat/completions',
    textOf: ({ model, messages }) => (typeof model === 'string' ? textOfMessages(messages) : undefined),
    answerTo: (flagged) => ({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: flagged ? '\n\nunsafe\nS1' : '\n\nsafe' },
          finish_reason: 'stop',
        },
      ],
    }),
  },
} satisfies Record<string, GuardrailService>;

export type GuardrailServiceName = keyof typeof guardrailServices;

export function isFlagged(words: string): boolean {
  return words.includes(FORBIDDEN_WORD);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function textOfMessages(messages: unknown): string | undefined {
  if (!Array.isArray(messages) || messages.length === 0) return undefined;
  const contents = messages.map((message: unknown) => {
    const { role, content } = (message ?? {}) as Record<string, unknown>;
    return typeof role === 'string' ? text(content) : undefined;
  });
  return contents.includes(undefined) ? undefined : contents.join('\n');
}
