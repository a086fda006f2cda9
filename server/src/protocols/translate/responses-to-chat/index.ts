import { ChatReader } from '../readers/chat.ts';
import type { Translation } from '../translation.ts';
import { ResponsesWriter } from '../writers/responses.ts';
import { chatRequest } from './request.ts';

/** A client of OpenAI's Responses, a provider of chat completions. */
export const responsesToChat: Translation = {
  client: 'responses',
  provider: 'chat',
  request: chatRequest,
  reader: ({ requestId }) => new ChatReader(requestId, { probabilities: true }),
  writer: (options) => new ResponsesWriter(options),
};
