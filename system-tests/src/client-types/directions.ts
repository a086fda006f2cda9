import type { Shape } from './judge-types.ts';
import { TOOLS } from './model-answers.ts';

export type Wire = 'chat' | 'responses' | 'messages';

/** A client of one protocol at a provider of the same or another one. */
export interface Direction {
  readonly client: Wire;
  readonly provider: Wire;
  readonly lane: string;
}

export const LANES = { chat: 'chat-lane', responses: 'responses-lane', messages: 'messages-lane' } as const;

export const directions: readonly Direction[] = [
  { client: 'chat', provider: 'chat', lane: LANES.chat },
  { client: 'responses', provider: 'responses', lane: LANES.responses },
  { client: 'messages', provider: 'messages', lane: LANES.messages },
  { client: 'chat', provider: 'messages', lane: LANES.messages },
  { client: 'messages', provider: 'chat', lane: LANES.chat },
  { client: 'responses', provider: 'chat', lane: LANES.chat },
  { client: 'responses', provider: 'messages', lane: LANES.messages },
];

export const paths: Readonly<Record<Wire, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
};

/** The types of a client's whole answers, frames and errors. */
export const shapesOf: Readonly<Record<Wire, Readonly<Record<'whole' | 'frame' | 'error', Shape>>>> = {
  chat: { whole: 'ChatWhole', frame: 'ChatChunk', error: 'OpenaiError' },
  responses: { whole: 'ResponsesWhole', frame: 'ResponsesEvent', error: 'OpenaiError' },
  messages: { whole: 'MessagesWhole', frame: 'MessagesEvent', error: 'MessagesError' },
};

const parameters = { type: 'object', properties: {}, additionalProperties: true };

/** A request with every tool; `detail` makes it ask for what changes the answer. */
export function requestOf(
  { client, lane }: Direction,
  prompt: string,
  stream: boolean,
  detail: boolean,
): object {
  const messages = [{ role: 'user', content: prompt }];
  switch (client) {
    case 'chat':
      return {
        model: lane,
        messages,
        tools: TOOLS.map((name) => ({ type: 'function', function: { name, parameters } })),
        stream,
        ...(detail && stream ? { stream_options: { include_usage: true } } : {}),
      };
    case 'responses':
      return {
        model: lane,
        input: prompt,
        tools: TOOLS.map((name) =>
          name === 'wait' && detail
            ? { type: 'custom', name }
            : { type: 'function', name, parameters, strict: false },
        ),
        stream,
        ...(detail
          ? { store: false, include: ['reasoning.encrypted_content'], reasoning: { effort: 'high' } }
          : {}),
      };
    case 'messages':
      return {
        model: lane,
        max_tokens: 4_096,
        messages,
        tools: TOOLS.map((name) => ({ name, input_schema: parameters })),
        stream,
        ...(detail ? { thinking: { type: 'enabled', budget_tokens: 2_000 } } : {}),
      };
  }
}
