import { isObject, type JsonObject, objectOf } from '../../../kit/json-value.ts';
import { inputSchema } from '../chat-to-messages/tools.ts';
import { FieldSorter, withoutUndefined } from '../field-sorter.ts';
import { readConversation } from '../from-responses/conversation.ts';
import { readSettings } from '../from-responses/settings.ts';
import { readToolUse, type ToolUse } from '../from-responses/tool-choice.ts';
import { type FunctionSpec, functionMembers, readTools } from '../from-responses/tools.ts';
import { messagesFormat } from '../messages-format.ts';
import { serviceTier } from '../settings.ts';
import { Strictness } from '../strictness.ts';
import {
  DEFAULT_MAX_TOKENS,
  type Incompatible,
  type RequestOptions,
  type TranslatedRequest,
} from '../translation.ts';
import { conversationOf } from './conversation.ts';
import { responsesToMessagesFields as fields } from './fields.ts';
import { thinkingSettings } from './thinking.ts';

const TEMPERATURE_MAX = 1;
const CHOICES = { auto: 'auto', none: 'none', required: 'any' } as const;

export function messagesRequest(
  given: unknown,
  upstreamModel: string,
  options: RequestOptions = {},
): TranslatedRequest | Incompatible {
  const sorter = new FieldSorter('The Messages API');
  const request = objectOf(given);
  const rules = { fields, returnsThinking: true, maker: options.maker };
  const { reasoning, format } = readSettings(sorter, request, rules);
  const turns = readConversation(sorter, request, rules);
  const use = readToolUse(sorter, request, readTools(sorter, request, fields), fields);
  const { system, messages } = conversationOf(sorter, turns);
  const { thinking, effort } = thinkingSettings(sorter, reasoning, {
    options,
    // Messages do not think before a call that they are made to make, nor with a temperature.
    canThink: !isObject(use.choice) && use.choice !== 'required' && !hasSampling(request),
  });
  const strictness = new Strictness(sorter, 'messages');
  const body = {
    model: upstreamModel,
    max_tokens: request['max_output_tokens'] ?? options.maxOutputTokens ?? DEFAULT_MAX_TOKENS,
    system,
    messages,
    temperature: temperature(sorter, request['temperature']),
    top_p: request['top_p'] ?? undefined,
    thinking,
    output_config: outputConfig(effort, format === null ? undefined : outputFormat(sorter, format)),
    tools:
      use.tools.length === 0 ? undefined : use.tools.map((spec) => messagesTool(sorter, strictness, spec)),
    tool_choice: choiceOf(sorter, use),
    service_tier: serviceTier(sorter, 'messages', request['service_tier']),
    stream: request['stream'] === true ? true : undefined,
  };
  return sorter.result(withoutUndefined(body));
}

function hasSampling({ temperature: given, top_p: topP }: JsonObject): boolean {
  return typeof given === 'number' || typeof topP === 'number';
}

function temperature(sorter: FieldSorter, value: unknown): unknown {
  if (typeof value === 'number' && value > TEMPERATURE_MAX)
    sorter.refuse('temperature', `The Messages API accepts temperatures up to ${TEMPERATURE_MAX}.`);
  return value ?? undefined;
}

function outputConfig(effort: unknown, format: JsonObject | undefined): JsonObject | undefined {
  const config = withoutUndefined({ effort, format });
  return Object.keys(config).length === 0 ? undefined : config;
}

function outputFormat(sorter: FieldSorter, format: JsonObject): JsonObject | undefined {
  const { type, schema, description } = format;
  if (type === 'json_schema') return messagesFormat(sorter, { schema, description, path: 'text.format' });
  sorter.cannotSay('text.format.type');
  return undefined;
}

function messagesTool(sorter: FieldSorter, strictness: Strictness, spec: FunctionSpec): JsonObject {
  const schema = inputSchema(sorter, spec.parameters, `${spec.path}.parameters`);
  return functionMembers(strictness, spec, schema);
}

/** Nothing is said of what Messages do by default. */
function choiceOf(sorter: FieldSorter, { choice, parallel, tools }: ToolUse): JsonObject | undefined {
  if (tools.length === 0 || ((choice === null || choice === 'auto') && parallel)) return undefined;
  if (choice === 'none') {
    // Without calls there is nothing to do in parallel.
    if (!parallel) sorter.leaveOut('parallel_tool_calls');
    return { type: CHOICES.none };
  }
  const chosen =
    typeof choice === 'string' || choice === null
      ? { type: CHOICES[choice ?? 'auto'] }
      : { type: 'tool', name: choice.name };
  return parallel ? chosen : { ...chosen, disable_parallel_tool_use: true };
}
