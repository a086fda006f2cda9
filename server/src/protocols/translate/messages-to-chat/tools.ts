import { parsedValue } from '../../../kit/json-source.ts';
import { isObject, type JsonObject } from '../../../kit/json-value.ts';
import { type FieldSorter, withoutUndefined } from '../field-sorter.ts';
import { Strictness } from '../strictness.ts';
import { shortName } from '../tool-names.ts';
import { messagesToChatFields as fields } from './fields.ts';

export function chatTools(sorter: FieldSorter, given: unknown): readonly JsonObject[] | undefined {
  const tools = sorter.list(given, 'tools');
  // An empty list says that there are none; chat completions reject it.
  if (tools.length === 0) return undefined;
  const strictness = new Strictness(sorter, 'chat');
  return tools.map((tool, index) => chatTool(sorter, strictness, tool, `tools[${index}]`));
}

function chatTool(sorter: FieldSorter, strictness: Strictness, tool: unknown, path: string): JsonObject {
  if (!isObject(tool)) {
    sorter.wrongKind(path, 'a tool');
    return {};
  }
  const { type, name, description, input_schema: parameters, strict } = tool;
  // The provider's own tools run at the provider, or have a meaning that its models learned.
  if (type !== undefined && type !== null && type !== 'custom') sorter.cannotSay(`${path}.type`);
  sorter.sort(tool, path, fields.tool);
  if (typeof name !== 'string') sorter.wrongKind(`${path}.name`, 'a string');
  if (!isObject(parsedValue(parameters))) sorter.wrongKind(`${path}.input_schema`, 'a JSON schema');
  return {
    type: 'function',
    function: withoutUndefined({
      name: shortName(String(name)),
      description: description ?? undefined,
      parameters,
      strict: strictness.ofTool(parameters, strict === true, `${path}.strict`),
    }),
  };
}

/** `tool_choice` and `parallel_tool_calls`, which Messages say in one object. Without tools there is nothing to choose from. */
export function chatToolChoice(sorter: FieldSorter, choice: unknown, hasTools: boolean): JsonObject {
  if (choice === undefined || choice === null) return {};
  const given = sorter.section(choice, 'tool_choice', fields.toolChoice);
  const { disable_parallel_tool_use: disabled } = given;
  const chosen = choiceOf(sorter, given);
  if (!hasTools) {
    if (chosen !== 'auto' && chosen !== 'none') sorter.refuse('tool_choice', 'There is no tool to call.');
    return {};
  }
  return {
    tool_choice: chosen,
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
      return { type: 'function', function: { name: shortName(String(name)) } };
    default:
      sorter.cannotSay('tool_choice.type');
      return undefined;
  }
}
