import { isObject, type JsonObject, objectOf } from '../../../kit/json-value.ts';
import { FieldSorter, withoutUndefined } from '../field-sorter.ts';
import { readConversation } from '../from-responses/conversation.ts';
import { readSettings } from '../from-responses/settings.ts';
import { readToolUse, type ToolUse } from '../from-responses/tool-choice.ts';
import { type FunctionSpec, functionMembers, readTools } from '../from-responses/tools.ts';
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

/** What a function without parameters accepts. */
const NO_PARAMETERS = { type: 'object', properties: {} };

const rules = { fields, returnsThinking: true };

export function messagesRequest(
  given: unknown,
  upstreamModel: string,
  options: RequestOptions = {},
): TranslatedRequest | Incompatible {
  const sorter = new FieldSorter('The Messages API');
  const request = objectOf(given);
  const { reasoning, format } = readSettings(sorter, request, rules);
  const turns = readConversation(sorter, request, rules);
  const use = readToolUse(sorter, request, readTools(sorter, request, fields), fields);
  const { system, messages } = conversationOf(sorter, turns);
  const { thinking, effort } = thinkingSettings(sorter, reasoning, {
    options,
    // Messages do not think before a call that they are made to make, nor with a temperature.
    canThink: !isObject(use.choice) && use.choice !== 'required' && !hasSampling(request),
  });
  const body = {
    model: upstreamModel,
    max_tokens: request['max_output_tokens'] ?? options.maxOutputTokens ?? DEFAULT_MAX_TOKENS,
    system,
    messages,
    temperature: temperature(sorter, request['temperature']),
    top_p: request['top_p'] ?? undefined,
    thinking,
    output_config: outputConfig(effort, format === null ? undefined : outputFormat(sorter, format)),
    tools: use.tools.length === 0 ? undefined : use.tools.map((spec) => messagesTool(sorter, spec)),
    tool_choice: choiceOf(sorter, use),
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

/** A forced tool could imitate other formats, and the answer would be another. */
function outputFormat(sorter: FieldSorter, format: JsonObject): JsonObject | undefined {
  const { type, schema, description } = format;
  if (type !== 'json_schema') sorter.cannotSay('text.format.type');
  if (!isObject(schema)) {
    sorter.wrongKind('text.format.schema', 'a JSON schema');
    return undefined;
  }
  if (typeof description !== 'string') return { type, schema };
  // A schema has one description; of two, one would be lost.
  if (schema['description'] !== undefined) sorter.cannotSay('text.format.description');
  return { type, schema: { ...schema, description } };
}

function messagesTool(sorter: FieldSorter, spec: FunctionSpec): JsonObject {
  const { parameters, path } = spec;
  if (parameters?.['type'] !== undefined && parameters['type'] !== 'object')
    sorter.refuse(`${path}.parameters.type`, 'The Messages API accepts only object schemas.');
  const schema = parameters === null ? NO_PARAMETERS : { type: 'object', ...parameters };
  return functionMembers(spec, 'input_schema', schema);
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
