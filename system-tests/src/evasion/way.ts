import type { Fault } from '@relay/provider-sim';

export type Operation = 'chat' | 'responses' | 'messages' | 'embeddings';

/** One way to make a request look cheaper than it is. */
export interface Way {
  readonly name: string;
  readonly operation: Operation;
  /** What the endpoint's provider speaks; left out: what the client speaks. */
  readonly through?: 'openai' | 'anthropic';
  /** The members of the body beside `model`, as JSON text: a member may be there twice. */
  readonly members: string;
  /** What the request truly uses, which the provider reports. */
  readonly input: number;
  readonly output: number;
  readonly fault?: Fault;
  /** Honest requests that are sent first, one after the other: Relay can only know from them what is typical. */
  readonly learned?: number;
  /** Requests that are sent after them, to teach something else. */
  readonly trained?: { readonly times: number; readonly members: string };
  /** The client hangs up when it has this many bytes of text. */
  readonly hangsUpAfter?: number;
}

/** How many requests of a way its limit is worth. */
export const WORTH = 3;
/** The same for a hard limit, which has to have room for one reservation at least. */
export const HARD_WORTH = 8;
/** Tokens of output that a way hides. */
export const OUTPUT = 2_000;
/** Tokens of input that a way hides. */
export const INPUT = 5_000;
const BYTES_PER_TOKEN = 4;

export const TEXT = 'word '.repeat((INPUT * BYTES_PER_TOKEN) / 5);
/** As many bytes as the text, and none that base64 does not have. */
export const SOLID = 'Word'.repeat(INPUT);
export const DATA_TEXT = `data: ${TEXT}`;

export const json = JSON.stringify;

const CONVERSATIONS: Readonly<Record<Operation, string>> = {
  chat: '"messages":[{"role":"user","content":"Go on."}]',
  responses: '"input":"Go on."',
  messages: '"messages":[{"role":"user","content":"Go on."}]',
  embeddings: '"input":"Go on."',
};
/** The smallest output that the operation can be limited to. */
const CAPS: Readonly<Record<Operation, string>> = {
  chat: '"max_tokens":1',
  responses: '"max_output_tokens":16',
  messages: '"max_tokens":1',
  embeddings: '"encoding_format":"float"',
};

/** Hides output behind these settings. */
export function hidesOutput(operation: Operation, settings: string, more: Partial<Way> = {}): Way {
  const members = `${CONVERSATIONS[operation]},${settings}`;
  return { name: `${operation} with ${settings}`, operation, members, input: 10, output: OUTPUT, ...more };
}

/** Hides input in these members, with the smallest output there is. */
export function hidesInput(
  operation: Operation,
  what: string,
  members: object,
  more: Partial<Way> = {},
): Way {
  return {
    name: `${operation}: ${what}`,
    operation,
    members: `${json(members).slice(1, -1)},${CAPS[operation]}`,
    input: INPUT,
    output: operation === 'embeddings' ? 0 : 1,
    ...more,
  };
}

export function requestsBefore({ learned = 0, trained }: Way): { honest: number; trained: number } {
  return { honest: learned, trained: trained?.times ?? 0 };
}
