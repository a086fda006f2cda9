import { MessagesReader } from '../readers/messages.ts';
import type { Translation } from '../translation.ts';
import { ResponsesWriter } from '../writers/responses.ts';
import { messagesRequest } from './request.ts';

/** A client of OpenAI's Responses, a provider of Anthropic's Messages. */
export const responsesToMessages: Translation = {
  client: 'responses',
  provider: 'messages',
  request: messagesRequest,
  reader: () => new MessagesReader(),
  writer: (options) => new ResponsesWriter(options),
};
