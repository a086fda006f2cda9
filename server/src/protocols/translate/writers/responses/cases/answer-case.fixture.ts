import type { JsonObject } from '../../../../../kit/json-value.ts';

/** What a provider answers, and what a Responses client reads. */
export interface AnswerCase {
  readonly name: string;
  /** What the client asked for, as far as it matters. */
  readonly request?: JsonObject;
  /** The provider's stream. */
  readonly frames: readonly JsonObject[];
  /** The same answer when it is not streamed; null where there is no such answer. */
  readonly whole: JsonObject | null;
  /** Events of the client's stream between `response.in_progress` and the last one, which `end` names. */
  readonly says: readonly string[];
  readonly end: string;
  readonly output: readonly JsonObject[];
  /** `input / cached / output / reasoning`; null when the provider reports nothing. */
  readonly usage: string | null;
}

export const REQUEST_ID = 'req_7';
export const MAKER = 'maker';

export function message(index: number, ...content: readonly JsonObject[]): JsonObject {
  return { id: `msg_7_${index}`, type: 'message', status: 'completed', role: 'assistant', content };
}

export function text(value: string): JsonObject {
  return { type: 'output_text', text: value, annotations: [], logprobs: [] };
}

export function functionCall(index: number, callId: string, name: string, json: string): JsonObject {
  return {
    id: `fc_7_${index}`,
    type: 'function_call',
    status: 'completed',
    call_id: callId,
    name,
    arguments: json,
  };
}

export function customCall(index: number, callId: string, name: string, input: string): JsonObject {
  return {
    id: `ctc_7_${index}`,
    type: 'custom_tool_call',
    status: 'completed',
    call_id: callId,
    name,
    input,
  };
}

export function reasoning(index: number, summary: string | null, sealed?: string): JsonObject {
  return {
    id: `rs_7_${index}`,
    type: 'reasoning',
    summary: summary === null ? [] : [{ type: 'summary_text', text: summary }],
    ...(sealed === undefined ? {} : { encrypted_content: sealed }),
  };
}

/** What a message of one text says, in these pieces. */
export function saysText(index: number, ...pieces: readonly string[]): readonly string[] {
  const whole = JSON.stringify(pieces.join(''));
  return [
    `output_item.added ${index} message`,
    `content_part.added ${index}.0 output_text`,
    ...pieces.map((piece) => `output_text.delta ${index}.0 ${JSON.stringify(piece)}`),
    `output_text.done ${index}.0 ${whole}`,
    `content_part.done ${index}.0 output_text`,
    `output_item.done ${index} message`,
  ];
}

export function saysThinking(index: number, ...pieces: readonly string[]): readonly string[] {
  const whole = JSON.stringify(pieces.join(''));
  return [
    `output_item.added ${index} reasoning`,
    `reasoning_summary_part.added ${index}.0 summary_text`,
    ...pieces.map((piece) => `reasoning_summary_text.delta ${index}.0 ${JSON.stringify(piece)}`),
    `reasoning_summary_text.done ${index}.0 ${whole}`,
    `reasoning_summary_part.done ${index}.0 summary_text`,
    `output_item.done ${index} reasoning`,
  ];
}

export function saysCall(index: number, ...pieces: readonly string[]): readonly string[] {
  return [
    `output_item.added ${index} function_call`,
    ...callInput(index, ...pieces),
    ...callEnd(index, pieces.join('')),
  ];
}

export function callInput(index: number, ...pieces: readonly string[]): readonly string[] {
  return pieces.map((piece) => `function_call_arguments.delta ${index} ${JSON.stringify(piece)}`);
}

export function callEnd(index: number, json: string): readonly string[] {
  return [
    `function_call_arguments.done ${index} ${JSON.stringify(json)}`,
    `output_item.done ${index} function_call`,
  ];
}

export function saysCustom(index: number, ...pieces: readonly string[]): readonly string[] {
  return [
    `output_item.added ${index} custom_tool_call`,
    ...pieces.map((piece) => `custom_tool_call_input.delta ${index} ${JSON.stringify(piece)}`),
    `custom_tool_call_input.done ${index} ${JSON.stringify(pieces.join(''))}`,
    `output_item.done ${index} custom_tool_call`,
  ];
}
