import { tokensOfText } from './content.ts';
import { isRecord } from './fault.ts';
import { valueForSchema } from './json-from-schema.ts';

export const imageTokens = 85;

export interface Prompt {
  text: string;
  tokens: number;
}

/** The text of messages or items, and what their images and the tools add. */
export function promptOf(lists: unknown[], tools: unknown): Prompt {
  let text = '';
  let images = 0;

  function addPart(part: unknown): void {
    if (typeof part === 'string') {
      text += part;
      return;
    }
    if (!isRecord(part)) return;
    if (part['type'] === 'image_url' || part['type'] === 'input_image') images += 1;
    if (typeof part['text'] === 'string') text += part['text'];
  }

  function addMessage(message: unknown): void {
    if (typeof message === 'string') text += message;
    if (!isRecord(message)) return;
    const content = message['content'] ?? message['output'] ?? message['arguments'];
    if (Array.isArray(content)) for (const part of content) addPart(part);
    else addPart(content);
    const calls = message['tool_calls'];
    if (Array.isArray(calls)) text += JSON.stringify(calls);
  }

  for (const list of lists) {
    if (Array.isArray(list)) for (const message of list) addMessage(message);
    else addMessage(list);
  }
  const toolTokens = Array.isArray(tools) && tools.length > 0 ? tokensOfText(JSON.stringify(tools)) : 0;
  return { text, tokens: Math.max(1, tokensOfText(text) + images * imageTokens + toolTokens) };
}

export interface ToolCallPlan {
  name: string;
  argumentsText: string;
}

/**
 * The tool that has to be called. Chat wraps a function in an object of its own, responses does not.
 * Null unless the request forces a call: the simulator never chooses to.
 */
export function forcedTool(body: Record<string, unknown>): ToolCallPlan | null {
  const tools = Array.isArray(body['tools']) ? body['tools'].filter(isRecord) : [];
  const functions = tools.map((tool) => (isRecord(tool['function']) ? tool['function'] : tool));
  const choice = body['tool_choice'];
  const named = isRecord(choice) ? (isRecord(choice['function']) ? choice['function'] : choice) : null;
  const chosen =
    choice === 'required'
      ? functions[0]
      : functions.find((each) => named !== null && each['name'] === named['name']);
  if (chosen === undefined || typeof chosen['name'] !== 'string') return null;
  const argumentsText = JSON.stringify(valueForSchema(chosen['parameters'] ?? { type: 'object' }));
  return { name: chosen['name'], argumentsText };
}

/** The JSON a structured-output request must be answered with; null for plain text. */
export function structuredText(format: unknown): string | null {
  if (!isRecord(format)) return null;
  if (format['type'] === 'json_object') return '{"answer":"text"}';
  if (format['type'] !== 'json_schema') return null;
  const schema = isRecord(format['json_schema']) ? format['json_schema']['schema'] : format['schema'];
  return JSON.stringify(valueForSchema(schema ?? { type: 'object' }));
}

export function firstNumber(...values: unknown[]): number | null {
  return values.find((value): value is number => typeof value === 'number') ?? null;
}
