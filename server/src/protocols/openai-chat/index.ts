import { openaiErrors } from '../openai/errors.ts';
import { openaiHeaders } from '../openai/headers.ts';
import { openaiModels } from '../openai/models.ts';
import { openaiAnswer } from '../openai/usage.ts';
import type { Protocol } from '../protocol.ts';
import { chatStream } from './frames.ts';
import { chatRequest } from './request.ts';
import { chatProbe } from './sample.ts';
import { chatText } from './text.ts';

/** https://platform.openai.com/docs/api-reference/chat */
export const openaiChat: Protocol = {
  operation: 'chat',
  family: 'openai',
  routeKind: 'chat',
  path: '/chat/completions',
  hasOutput: true,
  isFree: false,
  headers: openaiHeaders,
  request: chatRequest,
  answer: openaiAnswer,
  stream: chatStream,
  text: chatText,
  errors: openaiErrors,
  models: openaiModels,
  probe: chatProbe,
};
