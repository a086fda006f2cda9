import type { JsonObject } from '../../../kit/json-value.ts';
import { FieldSorter, withoutUndefined } from '../field-sorter.ts';
import { messagesFormat } from '../messages-format.ts';
import { messagesEffort, serviceTier } from '../settings.ts';
import {
  DEFAULT_MAX_TOKENS,
  type Incompatible,
  type RequestOptions,
  type TranslatedRequest,
} from '../translation.ts';
import { conversationOf } from './conversation.ts';
import { chatToMessagesFields as fields } from './fields.ts';
import { messagesTools, messagesToolUse } from './tools.ts';

const TEMPERATURE_MAX = 1;

export function messagesRequest(
  given: unknown,
  upstreamModel: string,
  options: RequestOptions = {},
): TranslatedRequest | Incompatible {
  const sorter = new FieldSorter('The Messages API');
  const request = sorter.section(given, '', fields.request);
  sorter.section(request['stream_options'], 'stream_options', fields.streamOptions);
  const effort = request['reasoning_effort'] ?? undefined;
  const { system, messages } = conversationOf(sorter, request['messages']);
  const tools = messagesTools(sorter, request['tools']);
  const body = {
    model: upstreamModel,
    max_tokens: outputCap(sorter, request) ?? options.maxOutputTokens ?? DEFAULT_MAX_TOKENS,
    system,
    messages,
    temperature: temperature(sorter, request['temperature']),
    top_p: request['top_p'] ?? undefined,
    stop_sequences: stopSequences(sorter, request['stop']),
    thinking: effort === 'none' ? { type: 'disabled' } : undefined,
    output_config: outputConfig(sorter, effort, request['response_format']),
    ...messagesToolUse(sorter, tools, request['tool_choice'], request['parallel_tool_calls']),
    service_tier: serviceTier(sorter, 'messages', request['service_tier']),
    stream: request['stream'] === true ? true : undefined,
  };
  return sorter.result(withoutUndefined(body));
}

/** The older name counts when the newer one is not there. */
function outputCap(sorter: FieldSorter, request: JsonObject): unknown {
  const { max_completion_tokens: newer, max_tokens: older } = request;
  const isNewer = newer !== undefined && newer !== null;
  const cap = isNewer ? newer : (older ?? undefined);
  // To Messages 0 says that no answer is wanted.
  if (cap === 0) sorter.wrongKind(isNewer ? 'max_completion_tokens' : 'max_tokens', 'at least 1');
  if (isNewer && older !== undefined && older !== null && older !== newer) sorter.leaveOut('max_tokens');
  return cap;
}

function temperature(sorter: FieldSorter, value: unknown): unknown {
  if (typeof value === 'number' && value > TEMPERATURE_MAX)
    sorter.refuse('temperature', `The Messages API accepts temperatures up to ${TEMPERATURE_MAX}.`);
  return value ?? undefined;
}

function stopSequences(sorter: FieldSorter, stop: unknown): readonly unknown[] | undefined {
  const sequences = typeof stop === 'string' ? [stop] : sorter.list(stop, 'stop');
  if (sequences.some((sequence) => typeof sequence !== 'string' || sequence.trim() === ''))
    sorter.refuse(
      'stop',
      'The Messages API accepts stop sequences with at least one character that is not whitespace.',
    );
  return sequences.length === 0 ? undefined : sequences;
}

function outputConfig(sorter: FieldSorter, effort: unknown, format: unknown): JsonObject | undefined {
  const config = withoutUndefined({
    effort: messagesEffort(sorter, effort, 'reasoning_effort'),
    format: outputFormat(sorter, format),
  });
  return Object.keys(config).length === 0 ? undefined : config;
}

function outputFormat(sorter: FieldSorter, given: unknown): JsonObject | undefined {
  const format = sorter.section(given, 'response_format', fields.responseFormat);
  const { type } = format;
  if (type === undefined || type === 'text') return undefined;
  if (type !== 'json_schema') sorter.cannotSay('response_format.type');
  const path = 'response_format.json_schema';
  const { schema, description } = sorter.section(format['json_schema'], path, fields.jsonSchema);
  return messagesFormat(sorter, { schema, description, path });
}
