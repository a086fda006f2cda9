import type { ServerResponse } from 'node:http';
import { credential, endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import { Secret } from '../kit/secret.ts';
import { type Gateway, type Listening, startGateway, startListening } from './gateway.fixture.ts';

export const KEY = 'sk-secret-Qm2PzL9vTrW4hx7';
export const CHAT = {
  model: 'chat-first',
  messages: [{ role: 'user', content: 'Grüße 👋' }],
  max_tokens: 50,
};
export const MESSAGES = {
  model: 'anthropic-first',
  max_tokens: 50,
  system: [{ type: 'text', text: 'Be brief', cache_control: { type: 'ephemeral' } }],
  messages: [{ role: 'user', content: 'Grüße 👋' }],
};
const VERSION = { 'anthropic-version': '2023-06-01' };

export const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [{ type: 'text', text: 'Schön 👋' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 0 },
};
export const COMPLETION = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'Schön 👋' }, finish_reason: 'stop', logprobs: null },
  ],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
};

export const event = (type: string, fields: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
export const START = event('message_start', {
  message: { ...MESSAGE, content: [], stop_reason: null, usage: { input_tokens: 10, output_tokens: 1 } },
});
export const BLOCK = event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
export const delta = (text: string) =>
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
export const MESSAGES_STREAM = [
  START,
  BLOCK,
  delta('Schö'),
  delta('n 👋'),
  event('content_block_stop', { index: 0 }),
  event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } }),
  event('message_stop'),
];
export const CHAT_STREAM = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Schö' }),
  chunk({ content: 'n 👋' }),
  chunk({}, 'stop'),
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt', choices: [], usage: COMPLETION.usage })}\n\n`,
  'data: [DONE]\n\n',
];

export type Says = (response: ServerResponse) => void;

export const whole =
  (status: number, body: unknown): Says =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
/** Frames in pieces of 7 bytes, which cut characters. */
export const stream =
  (frames: readonly string[], end: 'end' | 'destroy' = 'end'): Says =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const bytes = Buffer.from(frames.join(''));
    for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
    response.write('', () => response[end]());
  };

export interface TranslatedSite {
  readonly upstream: Listening;
  readonly gateway: Gateway;
  /** What each provider answers next. */
  says: Record<string, Says[]>;
  sendChat(over?: object): ReturnType<Gateway['send']>['answered'];
  sendMessages(over?: object): ReturnType<Gateway['send']>['answered'];
  close(): Promise<void>;
}

/** A gateway with a provider of each protocol, and lanes that prefer one or have only one. */
export async function startTranslatedSite(): Promise<TranslatedSite> {
  const upstream = await startListening();
  const names = ['openai', 'anthropic'] as const;
  const gateway = await startGateway(
    snapshot({
      providers: names.map((id) => provider(id, { baseUrl: `${upstream.url}/${id}` })),
      credentials: names.map((id) => credential(`key-${id}`, id, { secret: new Secret(KEY) })),
      endpoints: names.map((id) => endpoint(id, id, `m-${id}`, { pacing: false, protocol: id })),
      lanes: [
        lane('chat-first', { defaultMaxWaitMs: 0 }),
        lane('anthropic-first', { defaultMaxWaitMs: 0 }),
        lane('only-openai', { defaultMaxWaitMs: 0 }),
        lane('only-anthropic', { defaultMaxWaitMs: 0 }),
      ],
      memberships: [
        member('chat-first', 'openai', 0),
        member('chat-first', 'anthropic', 1),
        member('anthropic-first', 'anthropic', 0),
        member('anthropic-first', 'openai', 1),
        member('only-openai', 'openai', 0),
        member('only-anthropic', 'anthropic', 0),
      ],
    }),
  );
  const site: TranslatedSite = {
    upstream,
    gateway,
    says: {},
    sendChat: (over = {}) => gateway.send({ ...CHAT, ...over }, '/v1/chat/completions').answered,
    sendMessages: (over = {}) => gateway.send({ ...MESSAGES, ...over }, '/v1/messages', VERSION).answered,
    async close() {
      await gateway.close();
      await upstream.close();
    },
  };
  upstream.answer = (response, { path }) =>
    (site.says[path.split('/')[1] ?? '']?.shift() ?? whole(500, {}))(response);
  return site;
}
