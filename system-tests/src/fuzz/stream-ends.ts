import type { RouteId } from '@relay/contract';

const OPENAI_END = /(?:^|[\r\n])data: ?\[DONE\]/;
const ERROR = /"error"|event: ?error/;

/** How a stream of each operation says that it is whole. */
const ENDS: Readonly<Partial<Record<RouteId, RegExp>>> = {
  createChatCompletion: OPENAI_END,
  createMessage: /(?:^|[\r\n])event: ?message_stop|"type":\s*"message_stop"/,
  // They do not stream; a provider that streams all the same does it as for chat.
  createEmbeddings: OPENAI_END,
  createResponse: /response\.(?:completed|failed|incomplete)|(?:^|[\r\n])data: ?\[DONE\]/,
};

/** Whether a client can tell how the stream ended: whole, or with an error. */
export function saysHowItEnded(operation: RouteId, stream: string): boolean {
  return ENDS[operation]?.test(stream) === true || ERROR.test(stream);
}
