import { MessagesReader } from '../readers/messages.ts';
import type { Translation } from '../translation.ts';
import { ChatWriter } from '../writers/chat.ts';
import { messagesRequest } from './request.ts';

/** A client of OpenAI's chat completions, a provider of Anthropic's Messages. */
export const chatToMessages: Translation = {
  client: 'chat',
  provider: 'messages',
  request: messagesRequest,
  reader: () => new MessagesReader(),
  writer: (options) => new ChatWriter(options),
};
