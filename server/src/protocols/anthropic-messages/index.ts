import { usageMemberRules } from '../answer-usage.ts';
import { PROBE_PROMPT, probeRules } from '../probe-rules.ts';
import type { Protocol } from '../protocol.ts';
import { anthropicErrors } from './errors.ts';
import { messagesStream } from './frames.ts';
import { anthropicHeaders } from './headers.ts';
import { anthropicModels } from './models.ts';
import { messagesRequest } from './request.ts';
import { messagesText } from './text.ts';
import { wholeUsage } from './usage.ts';

/** https://docs.anthropic.com/en/api/messages */
export const anthropicMessages: Protocol = {
  operation: 'messages',
  family: 'anthropic',
  routeKind: 'messages',
  path: '/messages',
  hasOutput: true,
  isFree: false,
  headers: anthropicHeaders,
  request: messagesRequest,
  answer: usageMemberRules(wholeUsage, ['text', 'thinking', 'partial_json']),
  stream: messagesStream,
  text: messagesText,
  errors: anthropicErrors,
  models: anthropicModels,
  probe: probeRules(
    (model) => ({ model, max_tokens: 1, messages: [{ role: 'user', content: PROBE_PROMPT }] }),
    'content',
  ),
};
