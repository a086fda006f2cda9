import type { Operation as AnyOperation } from '@relay/contract';
import { isObject } from '../../format/values.ts';

/** Those that answer with content. */
export type Operation = Exclude<AnyOperation, 'count_tokens'>;

export const playable: readonly Operation[] = ['chat', 'responses', 'embeddings', 'messages'];

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

export interface Settings {
  readonly operation: Operation;
  readonly model: string;
  readonly system: string;
  readonly maxTokens: number | null;
  readonly temperature: number | null;
  readonly stream: boolean;
}

export const paths: Readonly<Record<Operation, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  embeddings: '/v1/embeddings',
  messages: '/v1/messages',
};

/** Headers that requests of an operation need beside those of every request. */
export const headersOf = (operation: Operation): Readonly<Record<string, string>> =>
  operation === 'messages' ? { 'anthropic-version': '2023-06-01' } : {};

/** Messages need a maximum. */
const MAX_TOKENS_DEFAULT = 1024;

/** The request body, which the code samples show too. */
export function bodyOf(settings: Settings, turns: readonly Turn[]): Record<string, unknown> {
  const { operation, model, system, maxTokens, temperature, stream } = settings;
  if (operation === 'embeddings') return { model, input: turns.at(-1)?.content ?? '' };
  const more = {
    ...(temperature === null ? {} : { temperature }),
    ...(stream ? { stream: true } : {}),
  };
  const said = system.trim();
  if (operation === 'responses')
    return {
      model,
      ...(said === '' ? {} : { instructions: said }),
      input: turns.length === 1 ? turns[0]?.content : turns,
      ...(maxTokens === null ? {} : { max_output_tokens: maxTokens }),
      ...more,
    };
  if (operation === 'messages')
    return {
      model,
      max_tokens: maxTokens ?? MAX_TOKENS_DEFAULT,
      ...(said === '' ? {} : { system: said }),
      messages: turns,
      ...more,
    };
  return {
    model,
    messages: [...(said === '' ? [] : [{ role: 'system', content: said }]), ...turns],
    ...(maxTokens === null ? {} : { max_tokens: maxTokens }),
    ...more,
    ...(stream ? { stream_options: { include_usage: true } } : {}),
  };
}

/** The text that a frame adds to the response. */
export function deltaOf(operation: Operation, data: string): string {
  if (data === '[DONE]') return '';
  const frame = parse(data);
  if (operation === 'responses')
    return frame['type'] === 'response.output_text.delta' ? textOf(frame['delta']) : '';
  if (operation === 'messages') return textOf(objectOf(frame['delta'])['text']);
  const [choice] = arrayOf(frame['choices']);
  return textOf(objectOf(objectOf(choice)['delta'])['content']);
}

/** The text of a whole response body. */
export function answerOf(operation: Operation, body: Readonly<Record<string, unknown>>): string {
  if (operation === 'chat') {
    const [choice] = arrayOf(body['choices']);
    return textOf(objectOf(objectOf(choice)['message'])['content']);
  }
  const parts =
    operation === 'messages'
      ? arrayOf(body['content'])
      : arrayOf(body['output']).flatMap((item) => arrayOf(objectOf(item)['content']));
  return parts.map((part) => textOf(objectOf(part)['text'])).join('');
}

/** The vectors of an embeddings response. */
export function vectorsOf(body: Readonly<Record<string, unknown>>): readonly (readonly number[])[] {
  return arrayOf(body['data']).map((item) =>
    arrayOf(objectOf(item)['embedding']).filter((value) => typeof value === 'number'),
  );
}

/** Input and output tokens as the provider reported them, in a frame or a body. */
export function usageOf(json: string): { readonly input: number; readonly output: number } | null {
  const frame = parse(json);
  const inside = objectOf(frame['response'] ?? frame['message']);
  const usage = objectOf(frame['usage'] ?? inside['usage']);
  const input = usage['prompt_tokens'] ?? usage['input_tokens'];
  const output = usage['completion_tokens'] ?? usage['output_tokens'] ?? 0;
  return typeof input === 'number' && typeof output === 'number' ? { input, output } : null;
}

function parse(json: string): Readonly<Record<string, unknown>> {
  try {
    return objectOf(JSON.parse(json));
  } catch {
    return {};
  }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
