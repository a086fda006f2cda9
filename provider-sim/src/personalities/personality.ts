import { isRecord } from '../fault.ts';

/** How one provider of chat completions differs from OpenAI, as its documents and the issues of its users show it. */
export interface Personality {
  /** Calls in one step; the first is signed where the provider signs. */
  readonly callIds: (step: number) => readonly string[];
  /** The body of its answer. */
  whole(turn: Turn): unknown;
  /** Its stream, frame by frame, comments and all. */
  frames(turn: Turn): string[];
  /** Its error. */
  error(status: number, message: string): unknown;
  /** Why the provider rejects a step that the request returns; null when the step has all that the provider demands. */
  missing?(assistant: Returned, step: number): string | null;
}

/** One response of the model: the calls of a step, or the words at the end. */
export interface Turn {
  readonly step: number;
  readonly model: string;
  readonly thought: string;
  readonly calls: readonly PlayedCall[];
  readonly text: string;
}

export interface PlayedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** An assistant's message of the request, with its calls. */
export interface Returned {
  readonly message: Readonly<Record<string, unknown>>;
  readonly calls: readonly Readonly<Record<string, unknown>>[];
}

/** The provider's signature of a step: base64, with every character that base64 may have. */
export function signatureOf(step: number): string {
  return `${Buffer.from(`step ${step} \u00ff\u00fe?>`).toString('base64')}+/==`;
}

/** A frame of a stream. */
export function sse(data: unknown, space = ' '): string {
  return `data:${space}${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

export const CREATED_S = 1_790_000_000;
export const USAGE = { prompt_tokens: 40, completion_tokens: 12, total_tokens: 52 };

/** What the model thinks in a step. */
export function thoughtOf(step: number): string {
  return `Thinking of step ${step}`;
}

/** Text in two pieces, of which the second begins with a space. */
export function halves(text: string): readonly string[] {
  const middle = text.indexOf(' ');
  return [text.slice(0, middle), text.slice(middle)];
}

/** The calls as OpenAI has them. */
export function openaiCalls(calls: readonly PlayedCall[]): Record<string, unknown>[] {
  return calls.map(({ id, name, arguments: json }) => ({
    id,
    type: 'function',
    function: { name, arguments: json },
  }));
}

/** The same, each with its place, as streams have them. */
export function indexedCalls({ calls }: Turn): Record<string, unknown>[] {
  return openaiCalls(calls).map((call, index) => ({ index, ...call }));
}

/** The text in pieces; none where the model calls tools. */
export function contentOf({ text }: Turn): readonly string[] {
  return text === '' ? [] : halves(text);
}

export function finishOf({ calls }: Turn): 'tool_calls' | 'stop' {
  return calls.length > 0 ? 'tool_calls' : 'stop';
}

/** The steps in a request: its assistant's messages that called something. */
export function returnedIn(messages: readonly unknown[]): readonly Returned[] {
  return messages.flatMap((message) => {
    if (!isRecord(message) || message['role'] !== 'assistant' || !Array.isArray(message['tool_calls']))
      return [];
    return [{ message, calls: message['tool_calls'].filter(isRecord) }];
  });
}
