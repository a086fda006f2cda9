import { parsedValue, withMember } from '../../../kit/json-source.ts';
import { isObject, type JsonObject, objectOf } from '../../../kit/json-value.ts';
import { type FieldSorter, withoutUndefined } from '../field-sorter.ts';
import { Strictness } from '../strictness.ts';
import { chatToMessagesFields as fields } from './fields.ts';

/** What a function without parameters accepts. */
const NO_PARAMETERS = { type: 'object', properties: {} };

const CHOICES: Readonly<Record<string, string>> = { auto: 'auto', required: 'any', none: 'none' };

export function messagesTools(sorter: FieldSorter, given: unknown): readonly JsonObject[] | undefined {
  const tools = sorter.list(given, 'tools');
  if (tools.length === 0) return undefined;
  const strictness = new Strictness(sorter, 'messages');
  return tools.map((tool, index) => messagesTool(sorter, strictness, tool, `tools[${index}]`));
}

function messagesTool(sorter: FieldSorter, strictness: Strictness, given: unknown, path: string): JsonObject {
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
    strict: strictness.ofTool(parameters, strict === true, `${path}.function.strict`),
    cache_control: tool['cache_control'] ?? undefined,
  });
}

/** Messages require the schema of an object. */
export function inputSchema(sorter: FieldSorter, parameters: unknown, path: string): unknown {
  if (parameters === undefined || parameters === null) return NO_PARAMETERS;
  const schema = parsedValue(parameters);
  if (!isObject(schema)) {
    sorter.wrongKind(path, 'a JSON schema');
    return NO_PARAMETERS;
  }
  if (schema['type'] === undefined) return withMember(parameters, 'type', 'object');
  if (schema['type'] !== 'object')
    sorter.refuse(`${path}.type`, 'The Messages API accepts only object schemas.');
  return parameters;
}

type Tools = readonly JsonObject[] | undefined;

/** The tools that may be called, and `tool_choice` with what `parallel_tool_calls` adds to it. Without tools neither says anything. */
export function messagesToolUse(
  sorter: FieldSorter,
  given: Tools,
  choice: unknown,
  parallel: unknown,
): JsonObject {
  const { tools, chosen } = choose(sorter, given, choice ?? undefined);
  if (tools === undefined || tools.length === 0) {
    if (chosen?.['type'] === 'any' || chosen?.['type'] === 'tool')
      sorter.refuse('tool_choice', 'There is no tool to call.');
    return {};
  }
  if (typeof parallel !== 'boolean') return { tools, tool_choice: chosen };
  if (chosen?.['type'] === 'none') {
    // Without calls there is nothing to do in parallel.
    sorter.leaveOut('parallel_tool_calls');
    return { tools, tool_choice: chosen };
  }
  return { tools, tool_choice: { type: 'auto', ...chosen, disable_parallel_tool_use: !parallel } };
}

interface Chosen {
  readonly tools: Tools;
  readonly chosen?: JsonObject | undefined;
}

function choose(sorter: FieldSorter, tools: Tools, given: unknown): Chosen {
  if (given === undefined) return { tools };
  if (typeof given === 'string') return { tools, chosen: { type: mode(sorter, given, 'tool_choice') } };
  const choice = sorter.section(given, 'tool_choice', fields.toolChoice);
  if (choice['type'] === 'allowed_tools') return allow(sorter, tools, choice['allowed_tools']);
  if (choice['type'] !== 'function') sorter.cannotSay('tool_choice.type');
  const { name } = sorter.section(choice['function'], 'tool_choice.function', fields.namedFunction);
  return { tools, chosen: { type: 'tool', name } };
}

/** Tools that a choice does not allow are not offered, and named. */
function allow(sorter: FieldSorter, tools: Tools = [], given: unknown): Chosen {
  const path = 'tool_choice.allowed_tools';
  const { mode: givenMode, tools: allowed } = sorter.section(given, path, fields.allowedTools);
  const names = new Set<unknown>();
  for (const [index, entry] of sorter.list(allowed, `${path}.tools`).entries()) {
    const tool = sorter.section(entry, `${path}.tools[${index}]`, fields.toolChoice);
    if (tool['type'] === 'function') names.add(objectOf(tool['function'])['name']);
    else sorter.cannotSay(`${path}.tools[${index}]`);
  }
  for (const [index, { name }] of tools.entries()) if (!names.has(name)) sorter.leaveOut(`tools[${index}]`);
  return {
    tools: tools.filter(({ name }) => names.has(name)),
    chosen: { type: mode(sorter, givenMode ?? 'auto', `${path}.mode`) },
  };
}

function mode(sorter: FieldSorter, given: unknown, path: string): string | undefined {
  if (typeof given === 'string' && Object.hasOwn(CHOICES, given)) return CHOICES[given];
  sorter.cannotSay(path);
  return undefined;
}
