import { type JsonObject, objectOf } from '../../../kit/json-value.ts';
import { OPTIONAL_PARAMETERS } from '../../provider-presets.ts';
import { FieldSorter, withoutUndefined } from '../field-sorter.ts';
import { readConversation } from '../from-responses/conversation.ts';
import { asksForProbabilities, readSettings } from '../from-responses/settings.ts';
import { readToolUse, type ToolUse } from '../from-responses/tool-choice.ts';
import { functionMembers, readTools } from '../from-responses/tools.ts';
import { serviceTier } from '../settings.ts';
import { Strictness } from '../strictness.ts';
import type { Incompatible, RequestOptions, TranslatedRequest } from '../translation.ts';
import { chatMessages } from './conversation.ts';
import { responsesToChatFields as fields } from './fields.ts';

export function chatRequest(
  given: unknown,
  upstreamModel: string,
  options: RequestOptions = {},
): TranslatedRequest | Incompatible {
  const sorter = new FieldSorter('The Chat Completions API');
  const request = objectOf(given);
  const rules = { fields, returnsThinking: false, maker: options.maker };
  const { reasoning, text, format } = readSettings(sorter, request, rules);
  const turns = readConversation(sorter, request, rules);
  const use = readToolUse(sorter, request, readTools(sorter, request, fields), fields);
  const body = {
    model: upstreamModel,
    messages: chatMessages(sorter, turns),
    max_completion_tokens: request['max_output_tokens'] ?? undefined,
    temperature: request['temperature'] ?? undefined,
    top_p: request['top_p'] ?? undefined,
    reasoning_effort: effort(sorter, reasoning['effort'], options),
    verbosity: text['verbosity'] ?? undefined,
    ...probabilities(request),
    // Which of these the provider gets is for its preset to say.
    ...Object.fromEntries(OPTIONAL_PARAMETERS.map((name) => [name, request[name] ?? undefined])),
    response_format: format === null ? undefined : responseFormat(sorter, format),
    ...toolSettings(sorter, use),
    service_tier: serviceTier(sorter, 'chat', request['service_tier']),
    // Responses always report usage.
    ...(request['stream'] === true ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
  if (body.messages.length === 0)
    sorter.refuse('input', 'The Chat Completions API needs at least one message.');
  return sorter.result(withoutUndefined(body));
}

function effort(sorter: FieldSorter, given: unknown, { reasoningEffort }: RequestOptions): unknown {
  if (given === undefined || given === null) return undefined;
  if (reasoningEffort !== false) return given;
  sorter.leaveOut('reasoning.effort');
  return undefined;
}

function probabilities(request: JsonObject): JsonObject {
  if (!asksForProbabilities(request)) return {};
  const { top_logprobs: top } = request;
  return { logprobs: true, ...(top === undefined || top === null ? {} : { top_logprobs: top }) };
}

function responseFormat(sorter: FieldSorter, { type, ...schema }: JsonObject): JsonObject | undefined {
  if (type === 'json_object') return { type };
  if (type === 'json_schema') return { type, json_schema: schema };
  sorter.cannotSay('text.format.type');
  return undefined;
}

/** Without tools there is nothing to choose from. Chat completions allow parallel calls by default. */
function toolSettings(sorter: FieldSorter, { tools, choice, parallel }: ToolUse): JsonObject {
  if (tools.length === 0) return {};
  const strictness = new Strictness(sorter, 'chat');
  return {
    tools: tools.map((spec) => ({
      type: 'function',
      function: functionMembers(strictness, spec, spec.parameters),
    })),
    tool_choice:
      typeof choice === 'string' || choice === null
        ? (choice ?? undefined)
        : { type: 'function', function: choice },
    parallel_tool_calls: parallel ? undefined : false,
  };
}
