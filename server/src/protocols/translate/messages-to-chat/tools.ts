import { isObject, type JsonObject } from '../../../kit/json-value.ts';
import { type FieldSorter, withoutUndefined } from '../field-sorter.ts';
import { messagesToChatFields as fields } from './fields.ts';

const NAME_LENGTH_MAX = 64;

export function chatTools(sorter: FieldSorter, given: unknown): readonly JsonObject[] | undefined {
  const tools = sorter.list(given, 'tools');
  // An empty list says that there are none; chat completions reject it.
  if (tools.length === 0) return undefined;
  return tools.map((tool, index) => chatTool(sorter, tool, `tools[${index}]`));
}

function chatTool(sorter: FieldSorter, tool: unknown, path: string): JsonObject {
  if (!isObject(tool)) {
    sorter.wrongKind(path, 'a tool');
    return {};
  }
  const { type, name, description, input_schema: parameters, strict } = tool;
  // The provider's own tools run at the provider, or have a meaning that its models learned.
  if (type !== undefined && type !== null && type !== 'custom') sorter.cannotSay(`${path}.type`);
  sorter.sort(tool, path, fields.tool);
  if (typeof name !== 'string') sorter.wrongKind(`${path}.name`, 'a string');
  else if (name.length > NAME_LENGTH_MAX)
    sorter.refuse(
      `${path}.name`,
      `The Chat Completions API accepts names of up to ${NAME_LENGTH_MAX} characters.`,
    );
  if (!isObject(parameters)) sorter.wrongKind(`${path}.input_schema`, 'a JSON schema');
  return {
    type: 'function',
    function: withoutUndefined({
      name,
      description: description ?? undefined,
      parameters,
      strict: strict ?? undefined,
    }),
  };
}

/** `tool_choice` and `parallel_tool_calls`, which Messages say in one object. */
export function chatToolChoice(sorter: FieldSorter, choice: unknown): JsonObject {
  if (choice === undefined || choice === null) return {};
  const given = sorter.section(choice, 'tool_choice', fields.toolChoice);
  const { disable_parallel_tool_use: disabled } = given;
  return {
    tool_choice: choiceOf(sorter, given),
    ...(typeof disabled === 'boolean' ? { parallel_tool_calls: !disabled } : {}),
  };
}

function choiceOf(sorter: FieldSorter, { type, name }: JsonObject): unknown {
  switch (type) {
    case 'auto':
      return 'auto';
    case 'any':
      return 'required';
    case 'none':
      return 'none';
    case 'tool':
      if (typeof name !== 'string') sorter.wrongKind('tool_choice.name', 'a string');
      return { type: 'function', function: { name } };
    default:
      sorter.cannotSay('tool_choice.type');
      return undefined;
  }
}
