import type { MemberSpan } from '../../kit/json-members.ts';
import { isObject } from '../../kit/json-value.ts';
import { chatBounds, chatMost, estimateTokens, openaiInputBound } from '../openai/estimate.ts';
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
import { capSetting, spliceBody } from '../splice-body.ts';

const rules: BodyRules = { ...openaiBody, checkContent: checkMessages };

const OUTPUT_CAP = 'max_completion_tokens';

export const chatRequest: RequestRules = {
  parse: (bytes) => readRequestBody(bytes, rules),
  measure: (request) => measureRequest(request, rules),
  isStreaming: rules.isStreaming,
  output: chatBounds,
  estimate: (body, typical) => estimateTokens(body, chatBounds(body), typical),
  inputBound: openaiInputBound,
  outputMost: chatMost,
  outputCapField: OUTPUT_CAP,
  asksForUsage,
  forUpstream: (body, model, { quirks, outputCap = null } = {}) => {
    const usage = asksForUsage(body, quirks) ? includeUsage : null;
    return spliceBody(body, model, [usage, capSetting(OUTPUT_CAP, outputCap)], quirks);
  },
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
