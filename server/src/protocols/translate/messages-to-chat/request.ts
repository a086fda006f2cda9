import type { JsonObject } from '../../../kit/json-value.ts';
import { FieldSorter, withoutUndefined } from '../field-sorter.ts';
import { serviceTier } from '../settings.ts';
import { canBeStrict } from '../strictness.ts';
import type { Incompatible, RequestOptions, TranslatedRequest } from '../translation.ts';
import { chatMessages } from './conversation.ts';
import { messagesToChatFields as fields } from './fields.ts';
import { reasoningEffort, sortContextManagement } from './thinking.ts';
import { chatToolChoice, chatTools } from './tools.ts';

const STOP_SEQUENCES_MAX = 4;

/** What chat completions call a format; Messages give it no name. */
const FORMAT_NAME = 'response';

export function chatRequest(
  given: unknown,
  upstreamModel: string,
  options: RequestOptions = {},
): TranslatedRequest | Incompatible {
  const sorter = new FieldSorter('The Chat Completions API');
  const request = sorter.section(given, '', fields.request);
  sortContextManagement(sorter, request['context_management']);
  const output = sorter.section(request['output_config'], 'output_config', fields.outputConfig);
  const tools = chatTools(sorter, request['tools']);
  const body = {
    model: upstreamModel,
    messages: chatMessages(sorter, request, options.maker),
    max_completion_tokens: outputCap(sorter, request['max_tokens']),
    temperature: request['temperature'] ?? undefined,
    top_p: request['top_p'] ?? undefined,
    stop: stop(sorter, request['stop_sequences']),
    reasoning_effort: reasoningEffort(
      sorter,
      request['thinking'],
      output['effort'],
      options.reasoningEffort !== false,
    ),
    response_format: responseFormat(sorter, output['format']),
    tools,
    ...chatToolChoice(sorter, request['tool_choice'], tools !== undefined),
    service_tier: serviceTier(sorter, 'chat', request['service_tier']),
    ...streaming(request['stream']),
  };
  return sorter.result(withoutUndefined(body));
}

/** 0 asks for no answer at all, only for a filled cache. */
function outputCap(sorter: FieldSorter, cap: unknown): unknown {
  if (cap === 0) sorter.cannotSay('max_tokens');
  return cap ?? undefined;
}

function stop(sorter: FieldSorter, given: unknown): readonly unknown[] | undefined {
  const sequences = sorter.list(given, 'stop_sequences');
  if (sequences.length === 0) return undefined;
  if (sequences.length > STOP_SEQUENCES_MAX)
    sorter.refuse(
      'stop_sequences',
      `The Chat Completions API accepts up to ${STOP_SEQUENCES_MAX} stop sequences.`,
    );
  return sequences;
}

/** Messages guarantee the schema, which chat completions call strict. Where they can't, the promise is left out and named. */
function responseFormat(sorter: FieldSorter, given: unknown): JsonObject | undefined {
  if (given === undefined || given === null) return undefined;
  const format = sorter.section(given, 'output_config.format', fields.outputFormat);
  if (format['type'] !== 'json_schema') sorter.cannotSay('output_config.format.type');
  const { schema } = format;
  const strict = canBeStrict('chat', schema) ? true : undefined;
  if (strict === undefined) sorter.leaveOut('output_config.format.strict');
  return {
    type: 'json_schema',
    json_schema: withoutUndefined({ name: FORMAT_NAME, schema, strict }),
  };
}

/** Messages always report usage. */
function streaming(stream: unknown): JsonObject {
  return stream === true ? { stream: true, stream_options: { include_usage: true } } : {};
}
