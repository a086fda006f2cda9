import { messagesErrorBody } from '../error-shapes.ts';
import { ChatReader } from '../readers/chat.ts';
import type { Translation } from '../translation.ts';
import { MessagesWriter } from '../writers/messages.ts';
import { chatRequest } from './request.ts';

/** A client of Anthropic's Messages, a provider of OpenAI's chat completions. */
export const messagesToChat: Translation = {
  client: 'messages',
  provider: 'chat',
  request: chatRequest,
  error: messagesErrorBody,
  reader: () => new ChatReader(),
  writer: (options) => new MessagesWriter(options),
};
