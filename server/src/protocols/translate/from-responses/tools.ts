import { parsedValue } from '../../../kit/json-source.ts';
import { isObject, type JsonObject, listOf } from '../../../kit/json-value.ts';
import { type FieldSorter, withoutUndefined } from '../field-sorter.ts';
import type { Strictness } from '../strictness.ts';
import { type ResponsesFields, toolTypes } from './fields.ts';
import { stringOrNull } from './parts.ts';
import { CUSTOM_INPUT, toolLists, wireName } from './tool-names.ts';

/** A function that the provider may call, in no protocol's words. */
export interface FunctionSpec {
  readonly name: string;
  readonly description: string | null;
  /** Null for a function without parameters. */
  readonly parameters: unknown;
  /** What the client asked for, or does not say, which asks for it too where a function can be strict. */
  readonly strict: boolean;
  /** Where the request declares it. */
  readonly path: string;
  /** The namespace around it, if any, and whether its description holds the namespace's too. */
  readonly namespacePath?: string;
  readonly holdsAbout?: boolean;
}

/** All tools, as functions. */
export function readTools(
  sorter: FieldSorter,
  request: JsonObject,
  fields: ResponsesFields,
): readonly FunctionSpec[] {
  const { tools: given } = request;
  if (given !== undefined && given !== null && !Array.isArray(given))
    sorter.wrongKind('tools', 'an array of tools');
  const specs = toolLists(request).flatMap(([path, tools]) =>
    tools.flatMap((tool, index) => readTool(sorter, tool, `${path}[${index}]`, fields)),
  );
  const seen = new Set<string>();
  for (const { name, path } of specs) {
    if (seen.has(name)) sorter.refuse(`${path}.name`, 'The provider would see two tools with this name.');
    seen.add(name);
  }
  return specs;
}

function readTool(
  sorter: FieldSorter,
  tool: unknown,
  path: string,
  fields: ResponsesFields,
): readonly FunctionSpec[] {
  if (!isObject(tool)) {
    sorter.wrongKind(path, 'a tool');
    return [];
  }
  return tool['type'] === 'namespace'
    ? namespaceTools(sorter, tool, path, fields)
    : oneTool(sorter, tool, path, { fields, namespace: null });
}

interface Surroundings {
  readonly fields: ResponsesFields;
  readonly namespace: string | null;
}

/** What a namespace says of itself stands once, in the description of its first tool. */
function namespaceTools(
  sorter: FieldSorter,
  tool: JsonObject,
  path: string,
  fields: ResponsesFields,
): readonly FunctionSpec[] {
  sorter.sort(tool, path, fields.namespaceTool);
  const namespace = nameOf(sorter, tool, path);
  const members = listOf(tool['tools'])
    .flatMap((member, index) =>
      isObject(member) ? oneTool(sorter, member, `${path}.tools[${index}]`, { fields, namespace }) : [],
    )
    .map((spec) => ({ ...spec, namespacePath: path }));
  const [first, ...others] = members;
  const about = stringOrNull(tool['description']) ?? '';
  if (first === undefined || about === '') return members;
  const description = described(first.description, `Tools named ${wireName(namespace, '')}*: ${about}`);
  return [{ ...first, description, holdsAbout: true }, ...others];
}

function oneTool(
  sorter: FieldSorter,
  tool: JsonObject,
  path: string,
  { fields, namespace }: Surroundings,
): readonly FunctionSpec[] {
  const { type } = tool;
  if (type !== 'function' && type !== 'custom') {
    notOffered(sorter, type, path);
    return [];
  }
  sorter.sort(tool, path, type === 'function' ? fields.functionTool : fields.customTool);
  const name = wireName(namespace, nameOf(sorter, tool, path));
  const description = stringOrNull(tool['description']);
  if (type === 'custom') return [{ ...customTool(sorter, tool, description, path), name, path }];
  const { parameters, strict } = tool;
  const isSchema = isObject(parsedValue(parameters));
  if (parameters !== undefined && parameters !== null && !isSchema)
    sorter.wrongKind(`${path}.parameters`, 'a JSON schema');
  return [{ name, description, parameters: isSchema ? parameters : null, strict: strict !== false, path }];
}

/** A tool that runs at OpenAI, or whose meaning its models have learned. Only names that are known are repeated in an error. */
function notOffered(sorter: FieldSorter, type: unknown, path: string): void {
  const names = Object.keys(toolTypes) as (keyof typeof toolTypes)[];
  const known = names.find((name) => name === type);
  if (known === undefined || known === 'namespace') sorter.cannotSay(`${path}.type`);
  else if (toolTypes[known].treatment === 'advisory') sorter.leaveOut(`${path}.${known}`);
  else sorter.refuse(`${path}.type`, `The tool ${known} runs at OpenAI.`);
}

/**
 * A custom tool takes text, and the others have only functions: one with a single string. No provider can be made to keep to
 * a grammar, but a model that reads it mostly does; the field is named as left out.
 */
function customTool(
  sorter: FieldSorter,
  tool: JsonObject,
  description: string | null,
  path: string,
): Pick<FunctionSpec, 'description' | 'parameters' | 'strict'> {
  const format = isObject(tool['format']) ? tool['format'] : { type: 'text' };
  const { type, syntax, definition } = format;
  const isGrammar = type === 'grammar' && typeof definition === 'string';
  if (isGrammar) sorter.leaveOut(`${path}.format`);
  else if (type !== 'text') sorter.cannotSay(`${path}.format`);
  return {
    description: isGrammar
      ? described(description, `The input follows this ${String(syntax)} grammar:\n${definition}`)
      : description,
    parameters: {
      type: 'object',
      properties: {
        [CUSTOM_INPUT]: { type: 'string', description: 'The whole input of the tool, as text.' },
      },
      required: [CUSTOM_INPUT],
      additionalProperties: false,
    },
    strict: false,
  };
}

function described(description: string | null, more: string): string {
  return description === null || description === '' ? more : `${description}\n\n${more}`;
}

function nameOf(sorter: FieldSorter, tool: JsonObject, path: string): string {
  const { name } = tool;
  if (typeof name === 'string') return name;
  sorter.wrongKind(`${path}.name`, 'a string');
  return '';
}

/** A function in the provider's words, with the members that are there. */
export function functionMembers(
  strictness: Strictness,
  { name, description, parameters, strict, path }: FunctionSpec,
  schema: unknown,
): JsonObject {
  return withoutUndefined({
    name,
    description: description ?? undefined,
    [strictness.provider === 'chat' ? 'parameters' : 'input_schema']: schema ?? undefined,
    strict: strictness.ofTool(schema, strict && parameters !== null, `${path}.strict`),
  });
}
