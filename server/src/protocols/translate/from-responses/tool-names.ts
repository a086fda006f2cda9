import { isObject, type JsonObject, listOf, objectOf } from '../../../kit/json-value.ts';
import { shortName } from '../tool-names.ts';

/** The member of a function's input that holds a custom tool's text. */
export const CUSTOM_INPUT = 'input';

/** A tool as the client declared it. */
export interface DeclaredTool {
  readonly type: 'function' | 'custom';
  readonly name: string;
  readonly namespace: string | null;
}

/**
 * The name that the provider sees. Only Responses have namespaces, so that a tool in one gets a name of both; it depends on
 * nothing else, because earlier calls in the input have to get the same name.
 */
export function wireName(namespace: string | null, name: string): string {
  return shortName(namespace === null ? name : `${namespace}${namespace.endsWith('__') ? '' : '__'}${name}`);
}

/** Every list of tools in a request, with its path: `tools`, and those that `additional_tools` items add. */
export function toolLists(
  request: JsonObject,
): readonly (readonly [path: string, tools: readonly unknown[]])[] {
  const added = listOf(request['input']).flatMap((item, index) =>
    isObject(item) && item['type'] === 'additional_tools'
      ? [[`input[${index}].tools`, listOf(item['tools'])] as const]
      : [],
  );
  return [['tools', listOf(request['tools'])], ...added];
}

/** By the name that the provider sees, for a writer that has to say what the client declared. */
export function declaredTools(request: unknown): ReadonlyMap<string, DeclaredTool> {
  const all = toolLists(objectOf(request)).flatMap(([, tools]) =>
    tools.flatMap((tool) => declarations(tool, null)),
  );
  return new Map(all.map((tool) => [wireName(tool.namespace, tool.name), tool]));
}

function declarations(given: unknown, namespace: string | null): readonly DeclaredTool[] {
  const { type, name, tools } = objectOf(given);
  if (typeof name !== 'string') return [];
  if (type === 'namespace' && namespace === null)
    return listOf(tools).flatMap((tool) => declarations(tool, name));
  return type === 'function' || type === 'custom' ? [{ type, name, namespace }] : [];
}
