import { listOf, objectOf } from '../../../kit/json-value.ts';
import { ChatReader } from '../readers/chat.ts';
import { withLongNames } from '../tool-names.ts';
import type { Translation } from '../translation.ts';
import { MessagesWriter } from '../writers/messages.ts';
import { chatRequest } from './request.ts';

function toolNames(request: unknown): readonly string[] {
  return listOf(objectOf(request)['tools']).flatMap((tool) => {
    const { name } = objectOf(tool);
    return typeof name === 'string' ? [name] : [];
  });
}

/** A client of Anthropic's Messages, a provider of OpenAI's chat completions. */
export const messagesToChat: Translation = {
  client: 'messages',
  provider: 'chat',
  request: chatRequest,
  reader: ({ requestId }) => new ChatReader(requestId),
  writer: (options) => withLongNames(new MessagesWriter(options), toolNames(options.request)),
};
