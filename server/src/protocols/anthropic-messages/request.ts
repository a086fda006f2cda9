import type { MemberSpan } from '../../kit/json-members.ts';
import { estimateInput, OUTPUT_TOKENS_MAX, positiveInteger } from '../estimate-input.ts';
import { unsignedThinking } from '../own-thinking.ts';
import type { RequestRules } from '../protocol.ts';
import {
  type BodyRules,
  invalidField,
  measureRequest,
  type RequestSettings,
  readRequestBody,
} from '../request-body.ts';
import { spliceBody } from '../splice-body.ts';

/** Members whose text is read by the model as input. */
const INPUT_MEMBERS = new Set(['system', 'messages', 'tools', 'output_format', 'output_config']);

const rules: BodyRules = {
  // An image or a document is `"source": {"type": "base64", "data": …}`.
  imageMember: 'source',
  imageDataMember: 'data',
  changedSetting: null,
  checkContent: checkMessages,
  isStreaming: (settings) => settings['stream'] === true,
  wantsUsageFrame: () => false,
};

export const messagesRequest: RequestRules = {
  parse: (bytes) => readRequestBody(bytes, rules),
  measure: (request) => measureRequest(request, rules),
  isStreaming: rules.isStreaming,
  outputCap,
  estimate: ({ members, settings }, typicalOutputTokens) => ({
    inputTokens: estimateInput(members, INPUT_MEMBERS),
    outputTokens: Math.min(OUTPUT_TOKENS_MAX, outputCap(settings) ?? typicalOutputTokens),
  }),
  // Every stream reports usage.
  asksForUsage: () => false,
  forUpstream: (body, model, { quirks, removal = null } = {}) => spliceBody(body, model, removal, quirks),
  ownThinking: unsignedThinking,
};

function outputCap(settings: RequestSettings): number | null {
  return positiveInteger(settings['max_tokens']);
}

/** The rest, `max_tokens` included, is the provider's to judge. */
function checkMessages(members: readonly MemberSpan[], _settings: RequestSettings, bytes: Buffer): void {
  const span = members.findLast(({ name }) => name === 'messages');
  if (span === undefined || !/^\[\s*[^\s\]]/.test(bytes.toString('latin1', span.start, span.start + 64)))
    throw invalidField('messages', 'messages must be a non-empty array of objects with role and content.');
}
