import type { MemberSpan } from '../../kit/json-members.ts';
import { type InputMembers, measureInput } from '../estimate-input.ts';
import { boundInput } from '../input-bound/input-at-most.ts';
import { mediaRules } from '../media-meter.ts';
import { estimatedOutput, type OutputBounds, outputBounds } from '../output-cap.ts';
import { outputMostOf } from '../output-most.ts';
import { unsignedThinking } from '../own-thinking.ts';
import type { RequestRules } from '../protocol.ts';
import {
  type BodyRules,
  invalidField,
  type MeasuredBody,
  measureRequest,
  type RequestSettings,
  readRequestBody,
} from '../request-body.ts';
import { capSetting, spliceBody } from '../splice-body.ts';
import { withUnseenInput } from '../unseen-input.ts';

const MEMBERS: InputMembers = {
  conversation: new Set(['messages']),
  text: new Set(['system', 'tools', 'output_format', 'output_config']),
  settings: new Set(['model', 'metadata', 'stop_sequences', 'tool_choice', 'context_management']),
  remote: new Set(['container', 'mcp_servers']),
};
const OUTPUT_CAP = 'max_tokens';
const CAPS: ReadonlySet<string> = new Set([OUTPUT_CAP]);

const rules: BodyRules = {
  // An image or a document is `"source": {"type": "base64", "data": …}`; the input of a tool is any JSON.
  media: mediaRules({ source: 'source', file_id: 'remote' }, ['input']),
  changedSetting: null,
  checkContent: checkMessages,
  isStreaming: (settings) => settings['stream'] === true,
  wantsUsageFrame: () => false,
};

export const messagesRequest: RequestRules = {
  parse: (bytes) => readRequestBody(bytes, rules),
  measure: (request) => measureRequest(request, rules),
  isStreaming: rules.isStreaming,
  output: boundsOf,
  estimate: (body, typical) => ({
    ...withUnseenInput(measureInput(body.members, MEMBERS), typical),
    outputTokens: estimatedOutput(boundsOf(body), typical.outputTokens),
  }),
  inputBound: ({ bytes, members }) => boundInput(bytes, members, MEMBERS),
  outputMost: (body) => outputMostOf(boundsOf(body)),
  outputCapField: OUTPUT_CAP,
  // Every stream reports usage.
  asksForUsage: () => false,
  forUpstream: (body, model, { quirks, removal = null, outputCap = null } = {}) =>
    spliceBody(body, model, [removal, capSetting(OUTPUT_CAP, outputCap)], quirks),
  ownThinking: unsignedThinking,
};

function boundsOf(body: MeasuredBody): OutputBounds {
  return outputBounds(body, CAPS);
}

/** The rest, `max_tokens` included, is the provider's to judge. */
function checkMessages(members: readonly MemberSpan[], _settings: RequestSettings, bytes: Buffer): void {
  const span = members.findLast(({ name }) => name === 'messages');
  if (span === undefined || !/^\[\s*[^\s\]]/.test(bytes.toString('latin1', span.start, span.start + 64)))
    throw invalidField('messages', 'messages must be a non-empty array of objects with role and content.');
}
