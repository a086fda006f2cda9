import { JsonSource, objectSource } from '../../kit/json-source.ts';

/**
 * Tool input for Messages, which take an object, from the text that a model wrote; nothing for a function without parameters. What is not
 * an object stays in its words, or the conversation could not be continued.
 */
export function inputObject(json: string): unknown {
  return json.trim() === '' ? {} : (objectSource(json) ?? { arguments: json });
}

/** The text of tool input that is an object. */
export function inputText(input: unknown): string {
  return input instanceof JsonSource ? input.text : JSON.stringify(input ?? {});
}
