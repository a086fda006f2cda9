import { isObject, type JsonObject } from '../../../kit/json-value.ts';
import { type FieldSorter, withoutUndefined } from '../field-sorter.ts';
import { chatToMessagesFields as fields } from './fields.ts';

/** What a function without parameters accepts. */
const NO_PARAMETERS = { type: 'object', properties: {} };

const CHOICES: Readonly<Record<string, string>> = { auto: 'auto', required: 'any', none: 'none' };

export function messagesTools(sorter: FieldSorter, given: unknown): readonly JsonObject[] | undefined {
  const tools = sorter.list(given, 'tools');
  if (tools.length === 0) return undefined;
  return tools.map((tool, index) => messagesTool(sorter, tool, `tools[${index}]`));
}

function messagesTool(sorter: FieldSorter, given: unknown, path: string): JsonObject {
  const tool = sorter.section(given, path, fields.tool);
  if (tool['type'] !== 'function') sorter.cannotSay(`${path}.type`);
  const { name, description, parameters, strict } = sorter.section(
    tool['function'],
    `${path}.function`,
    fields.functionTool,
  );
  if (typeof name !== 'string') sorter.wrongKind(`${path}.function.name`, 'a string');
  return withoutUndefined({
    name,
    description: description ?? undefined,
    input_schema: inputSchema(sorter, parameters, `${path}.function.parameters`),
    strict: strict ?? undefined,
  });
}

/** Messages require the schema of an object. */
function inputSchema(sorter: FieldSorter, parameters: unknown, path: string): JsonObject {
  if (parameters === undefined || parameters === null) return NO_PARAMETERS;
  if (!isObject(parameters)) {
    sorter.wrongKind(path, 'a JSON schema');
    return NO_PARAMETERS;
  }
  if (parameters['type'] === undefined) return { type: 'object', ...parameters };
  if (parameters['type'] !== 'object')
    sorter.refuse(`${path}.type`, 'The Messages API accepts only object schemas.');
  return parameters;
}

/** `tool_choice` with what `parallel_tool_calls` adds to it. */
export function messagesToolChoice(
  sorter: FieldSorter,
  choice: unknown,
  parallel: unknown,
): JsonObject | undefined {
  const given = choice ?? undefined;
  if (given === undefined && typeof parallel !== 'boolean') return undefined;
  const chosen = given === undefined ? { type: 'auto' } : choiceOf(sorter, given);
  if (typeof parallel !== 'boolean') return chosen;
  if (chosen['type'] === 'none') {
    // Without calls there is nothing to do in parallel.
    sorter.leaveOut('parallel_tool_calls');
    return chosen;
  }
  return { ...chosen, disable_parallel_tool_use: !parallel };
}

function choiceOf(sorter: FieldSorter, given: unknown): JsonObject {
  if (typeof given === 'string') {
    if (!Object.hasOwn(CHOICES, given)) sorter.cannotSay('tool_choice');
    return { type: CHOICES[given] };
  }
  const choice = sorter.section(given, 'tool_choice', fields.toolChoice);
  if (choice['type'] !== 'function') sorter.cannotSay('tool_choice.type');
  const { name } = sorter.section(choice['function'], 'tool_choice.function', fields.namedFunction);
  return { type: 'tool', name };
}
