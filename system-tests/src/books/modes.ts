import type { Wire } from './answers.ts';

/** How a client asks, and what the provider speaks. */
export interface Mode {
  readonly name: string;
  readonly client: Wire;
  readonly wire: Wire;
  readonly streaming: boolean;
  /** The provider compresses unasked. */
  readonly gzip: boolean;
}

const PATHS: readonly (readonly [client: Wire, wire: Wire])[] = [
  ['chat', 'chat'],
  ['responses', 'responses'],
  ['messages', 'messages'],
  ['chat', 'messages'],
  ['responses', 'messages'],
  ['messages', 'chat'],
];

export const modes: readonly Mode[] = PATHS.flatMap(([client, wire]) =>
  [false, true].flatMap((streaming) =>
    [false, true].map((gzip): Mode => {
      const path = client === wire ? client : `${client} as ${wire}`;
      const name = `${path}${streaming ? ' stream' : ''}${gzip ? ', gzip' : ''}`;
      return { name, client, wire, streaming, gzip };
    }),
  ),
);

export const isTranslated = ({ client, wire }: Mode) => client !== wire;

const ROUTES: Readonly<Record<Wire, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
};

export function pathOf({ client }: Mode): string {
  return ROUTES[client];
}

export function headersOf({ client }: Mode): Readonly<Record<string, string>> {
  return client === 'messages' ? { 'anthropic-version': '2023-06-01' } : {};
}

/** `index` varies what a client may say or leave out. */
export function requestText({ client, streaming }: Mode, lane: string, index: number): string {
  const words = 'Say three words, and nothing else.';
  const capped = index % 2 === 0;
  const common = { model: lane, ...(streaming ? { stream: true } : {}) };
  if (client === 'responses')
    return JSON.stringify({ ...common, input: words, ...(capped ? { max_output_tokens: 64 } : {}) });
  const messages = [{ role: 'user', content: words }];
  if (client === 'messages') return JSON.stringify({ ...common, max_tokens: 64, messages });
  const asked = streaming && index % 3 === 0 ? { stream_options: { include_usage: true } } : {};
  return JSON.stringify({ ...common, messages, ...asked, ...(capped ? { max_tokens: 64 } : {}) });
}
