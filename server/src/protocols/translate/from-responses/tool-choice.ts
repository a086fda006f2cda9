import { isObject, type JsonObject, listOf } from '../../../kit/json-value.ts';
import type { FieldSorter } from '../field-sorter.ts';
import type { ResponsesFields } from './fields.ts';
import { stringOrNull } from './parts.ts';
import { wireName } from './tool-names.ts';
import type { FunctionSpec } from './tools.ts';

export interface ToolUse {
  /** Those that the model may call. */
  readonly tools: readonly FunctionSpec[];
  /** Null when nothing was said; otherwise a mode, or the one function that has to be called. */
  readonly choice: 'auto' | 'none' | 'required' | { readonly name: string } | null;
  /** False when the model may make one call at a time. */
  readonly parallel: boolean;
}

/**
 * `tool_choice` and `parallel_tool_calls`. A request without tools may still have both, which says nothing there, and the other
 * protocols reject it. Tools that a choice does not allow are not offered, and named.
 */
export function readToolUse(
  sorter: FieldSorter,
  request: JsonObject,
  tools: readonly FunctionSpec[],
  fields: ResponsesFields,
): ToolUse {
  const { tool_choice: given, parallel_tool_calls: parallel } = request;
  const use = isObject(given) ? chosen(sorter, given, tools, fields) : { tools, choice: mode(sorter, given) };
  if (use.tools.length > 0) return { ...use, parallel: parallel !== false };
  if (use.choice === 'required' || isObject(use.choice))
    sorter.refuse('tool_choice', 'There is no tool to call.');
  return { tools: [], choice: null, parallel: true };
}

type Choice = Pick<ToolUse, 'tools' | 'choice'>;

function chosen(
  sorter: FieldSorter,
  given: JsonObject,
  tools: readonly FunctionSpec[],
  fields: ResponsesFields,
): Choice {
  sorter.sort(given, 'tool_choice', fields.toolChoice);
  const { type } = given;
  if (type === 'allowed_tools') return allowed(sorter, given, tools);
  if (type === 'function' || type === 'custom') return { tools, choice: { name: nameIn(given) } };
  sorter.cannotSay('tool_choice.type');
  return { tools, choice: null };
}

function allowed(sorter: FieldSorter, given: JsonObject, tools: readonly FunctionSpec[]): Choice {
  const names = new Set<string>();
  for (const [index, entry] of listOf(given['tools']).entries()) {
    const type = isObject(entry) ? entry['type'] : null;
    if (isObject(entry) && (type === 'function' || type === 'custom')) names.add(nameIn(entry));
    else sorter.cannotSay(`tool_choice.tools[${index}]`);
  }
  for (const path of notOffered(tools, names)) sorter.leaveOut(path);
  return { tools: tools.filter(({ name }) => names.has(name)), choice: mode(sorter, given['mode']) };
}

/** A namespace without any tool that is offered is named as a whole. */
function notOffered(tools: readonly FunctionSpec[], names: ReadonlySet<string>): ReadonlySet<string> {
  const kept = new Set(tools.filter(({ name }) => names.has(name)).map(({ namespacePath }) => namespacePath));
  const paths = new Set<string>();
  for (const { name, path, namespacePath, holdsAbout } of tools) {
    if (names.has(name)) continue;
    if (namespacePath !== undefined && !kept.has(namespacePath)) paths.add(namespacePath);
    else {
      paths.add(path);
      if (holdsAbout === true) paths.add(`${namespacePath ?? path}.description`);
    }
  }
  return paths;
}

function nameIn(choice: JsonObject): string {
  return wireName(stringOrNull(choice['namespace']), stringOrNull(choice['name']) ?? '');
}

function mode(sorter: FieldSorter, given: unknown): 'auto' | 'none' | 'required' | null {
  if (given === undefined || given === null) return null;
  if (given === 'auto' || given === 'none' || given === 'required') return given;
  sorter.cannotSay('tool_choice');
  return null;
}
