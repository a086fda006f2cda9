import { JsonSource, objectSource } from '../../kit/json-source.ts';
import type { FieldSorter } from './field-sorter.ts';

/**
 * Tool input for Messages, which take an object, from the text that a model wrote; nothing for a function without parameters. What is not
 * an object stays in its words and is named, or the conversation could not be continued.
 */
export function inputObject(sorter: FieldSorter, json: string, path: string): unknown {
  if (json.trim() === '') return {};
  const input = objectSource(json);
  if (input !== null) return input;
  sorter.change(path, 'no JSON object: wrapped in one');
  return { arguments: json };
}

/** The text of tool input that is an object. */
export function inputText(input: unknown): string {
  return input instanceof JsonSource ? input.text : JSON.stringify(input ?? {});
}
