import type { MemberSpan } from '../../kit/json-members.ts';
import { isObject } from '../../kit/json-value.ts';
import { chatBounds, estimateTokens } from '../openai/estimate.ts';
import { includeUsage, openaiBody } from '../openai/request.ts';
import type { RequestRules } from '../protocol.ts';
import type { Quirks } from '../provider-presets.ts';
import {
  type BodyRules,
  type InferenceBody,
  invalidField,
  measureRequest,
  type RequestSettings,
  readRequestBody,
} from '../request-body.ts';
import { spliceBody } from '../splice-body.ts';

const rules: BodyRules = { ...openaiBody, checkContent: checkMessages };

export const chatRequest: RequestRules = {
  parse: (bytes) => readRequestBody(bytes, rules),
  measure: (request) => measureRequest(request, rules),
  isStreaming: rules.isStreaming,
  output: chatBounds,
  estimate: (body, typical) => estimateTokens(body, chatBounds(body), typical),
  asksForUsage,
  forUpstream: (body, model, { quirks } = {}) =>
    spliceBody(body, model, asksForUsage(body, quirks) ? includeUsage : null, quirks),
  ownThinking: null,
};

function asksForUsage({ streaming, wantsUsageFrame }: InferenceBody, quirks?: Quirks): boolean {
  return streaming && !wantsUsageFrame && quirks?.dropped_parameters.includes(includeUsage.name) !== true;
}

function checkMessages(members: readonly MemberSpan[], settings: RequestSettings, bytes: Buffer): void {
  const span = members.findLast(({ name }) => name === 'messages');
  if (
    span === undefined ||
    !/^\[\s*[^\s\]]/.test(bytes.toString('latin1', span.start, Math.min(span.end, span.start + 64)))
  ) {
    throw invalidField('messages', 'messages must be a non-empty array of objects with role and content.');
  }
  const messages = settings['messages'];
  if (!Array.isArray(messages)) return;
  for (const [index, message] of messages.entries()) {
    if (isObject(message) && typeof message['role'] === 'string') continue;
    throw invalidField(
      `messages[${index}].role`,
      `messages[${index}] must be an object with a role (string).`,
    );
  }
}
