/** How a cell asks: the operation, streaming or not, and whether the client itself wants the usage frame. */
export interface Mode {
  readonly name: string;
  readonly operation: 'chat' | 'responses' | 'embeddings' | 'messages';
  readonly streaming: boolean;
  readonly wantsUsage: boolean;
}

export type ModeName =
  | 'chat'
  | 'chat stream'
  | 'chat stream, usage asked'
  | 'responses'
  | 'responses stream'
  | 'embeddings'
  | 'messages'
  | 'messages stream';

export const modes: Readonly<Record<ModeName, Mode>> = {
  chat: { name: 'chat', operation: 'chat', streaming: false, wantsUsage: false },
  'chat stream': { name: 'chat stream', operation: 'chat', streaming: true, wantsUsage: false },
  'chat stream, usage asked': {
    name: 'chat stream, usage asked',
    operation: 'chat',
    streaming: true,
    wantsUsage: true,
  },
  responses: { name: 'responses', operation: 'responses', streaming: false, wantsUsage: false },
  'responses stream': {
    name: 'responses stream',
    operation: 'responses',
    streaming: true,
    wantsUsage: false,
  },
  embeddings: { name: 'embeddings', operation: 'embeddings', streaming: false, wantsUsage: false },
  messages: { name: 'messages', operation: 'messages', streaming: false, wantsUsage: false },
  'messages stream': {
    name: 'messages stream',
    operation: 'messages',
    streaming: true,
    wantsUsage: false,
  },
};

export const wholeModes: readonly ModeName[] = ['chat', 'responses', 'embeddings', 'messages'];
export const streamModes: readonly ModeName[] = ['chat stream', 'responses stream', 'messages stream'];
/** A chat as it is usually asked for. */
export const chatModes: readonly ModeName[] = ['chat', 'chat stream'];
export const everyMode: readonly ModeName[] = [...wholeModes, ...streamModes];

const paths = {
  chat: '/chat/completions',
  responses: '/responses',
  embeddings: '/embeddings',
  messages: '/messages',
} as const;

export function pathOf(mode: Mode): string {
  return paths[mode.operation];
}

/** What an endpoint has to speak to get the request as it is. */
export function protocolOf(mode: Mode): 'openai' | 'anthropic' {
  return mode.operation === 'messages' ? 'anthropic' : 'openai';
}

/** Headers that every request of the protocol has. */
export function headersOf(mode: Mode): Readonly<Record<string, string>> {
  return mode.operation === 'messages' ? { 'anthropic-version': '2023-06-01' } : {};
}

/** The client's text: spacing and an unknown field that a gateway which re-serialises would not keep. */
export function requestText(mode: Mode, model: string, words: string): string {
  const parts = [`"model" : ${JSON.stringify(model)}`];
  if (mode.operation === 'messages') parts.push('"max_tokens":64');
  if (mode.operation === 'chat' || mode.operation === 'messages')
    parts.push(`"messages":[{"role":"user","content":${JSON.stringify(words)}}]`);
  else parts.push(`"input":${JSON.stringify(words)}`);
  if (mode.operation === 'embeddings') parts.push('"dimensions":8');
  if (mode.streaming) parts.push('"stream":true');
  if (mode.wantsUsage) parts.push('"stream_options":{ "include_usage": true }');
  return `{ ${parts.join(',  ')}, "x_big":12345678901234567890 }`;
}

/** What must reach the provider: the same text with its own model, and usage asked for in a chat stream. */
export function upstreamText(mode: Mode, upstreamModel: string, words: string): string {
  const text = requestText(mode, upstreamModel, words);
  const asksForUsage = mode.operation === 'chat' && mode.streaming && !mode.wantsUsage;
  return asksForUsage ? `${text.slice(0, -1)},"stream_options":{"include_usage":true}}` : text;
}
