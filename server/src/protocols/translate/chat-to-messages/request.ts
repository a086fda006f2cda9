import { type JsonObject, objectOf } from '../../../kit/json-value.ts';
import { FieldSorter, withoutUndefined } from '../field-sorter.ts';
import {
  DEFAULT_MAX_TOKENS,
  type Incompatible,
  type RequestOptions,
  type TranslatedRequest,
} from '../translation.ts';
import { conversationOf } from './conversation.ts';
import { chatToMessagesFields as fields } from './fields.ts';
import { messagesToolChoice, messagesTools } from './tools.ts';

const TEMPERATURE_MAX = 1;
const SERVICE_TIERS: Readonly<Record<string, string>> = { auto: 'auto', default: 'standard_only' };
const EFFORTS: readonly unknown[] = ['low', 'medium', 'high', 'xhigh', 'max'];

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
    tools: messagesTools(sorter, request['tools']),
    tool_choice: messagesToolChoice(sorter, request['tool_choice'], request['parallel_tool_calls']),
    service_tier: serviceTier(sorter, request['service_tier']),
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
  const known = EFFORTS.includes(effort);
  if (effort !== undefined && effort !== 'none' && !known) sorter.cannotSay('reasoning_effort');
  const config = withoutUndefined({
    effort: known ? effort : undefined,
    format: outputFormat(sorter, format),
  });
  return Object.keys(config).length === 0 ? undefined : config;
}

/** A forced tool could imitate other formats, and the answer would be another. */
function outputFormat(sorter: FieldSorter, given: unknown): JsonObject | undefined {
  const format = sorter.section(given, 'response_format', fields.responseFormat);
  const { type } = format;
  if (type === undefined || type === 'text') return undefined;
  if (type !== 'json_schema') sorter.cannotSay('response_format.type');
  const path = 'response_format.json_schema';
  const { schema, description } = sorter.section(format['json_schema'], path, fields.jsonSchema);
  const object = objectOf(schema);
  if (object !== schema) sorter.wrongKind(`${path}.schema`, 'a JSON schema');
  if (typeof description !== 'string') return { type: 'json_schema', schema: object };
  // A schema has one description; of two, one would be lost.
  if (object['description'] !== undefined) sorter.cannotSay(`${path}.description`);
  return { type: 'json_schema', schema: { ...object, description } };
}

function serviceTier(sorter: FieldSorter, tier: unknown): string | undefined {
  if (tier === undefined || tier === null) return undefined;
  if (typeof tier === 'string' && Object.hasOwn(SERVICE_TIERS, tier)) return SERVICE_TIERS[tier];
  sorter.cannotSay('service_tier');
  return undefined;
}
