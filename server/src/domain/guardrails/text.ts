import type { Operation } from '../routing/operation.ts';
import type { TextMessage } from './template.ts';

/** What a guardrail is shown of a request or an answer. */
export interface InspectedText {
  readonly text: string;
  readonly messages: readonly TextMessage[];
  /** Images, audio, files and whatever else has no text to show. */
  readonly skippedParts: number;
}

/** Members in which messages, items and their parts keep words, whatever type they say they are. */
const WORDS = [
  'content',
  'text',
  'refusal',
  'reasoning_content',
  'reasoning',
  'thinking',
  'summary',
  'audio',
  'transcript',
  'arguments',
  'input',
  'output',
  'result',
  'code',
  'logs',
  'action',
  'function',
  'custom',
  'function_call',
  'tool_calls',
];

/** The result of these only looks like text: it is base64, and would be megabytes of it. */
const DATA_TYPES = /image|audio|video|screenshot/;
/** As deep as a request may be. */
const DEPTH_MAX = 256;

/** Everything in a request's body that a model reads as words: messages, items, tool calls and results, instructions. */
export function requestText(operation: Operation, body: unknown): InspectedText {
  const collector = new Collector();
  const request = recordOf(body);
  collector.add('system', request['system']);
  collector.add('system', request['instructions']);
  if (operation === 'chat') collector.addTurns(request['messages'], 'user');
  else collector.addTurns(request['input'], 'user');
  collector.add('user', recordOf(request['prompt'])['variables'], 'every_string');
  return collector.inspected();
}

/** Everything in an answer that a client reads as words, refusals and the arguments of tool calls included. */
export function responseText(operation: Operation, body: unknown): InspectedText {
  const collector = new Collector();
  const answer = recordOf(body);
  if (operation !== 'chat') collector.addTurns(answer['output'], 'assistant');
  else
    for (const choice of listOf(answer['choices'])) {
      collector.add('assistant', recordOf(choice)['message']);
      collector.add('assistant', recordOf(choice)['text']);
    }
  return collector.inspected();
}

class Collector {
  readonly #messages: TextMessage[] = [];
  #skippedParts = 0;
  #words: string[] = [];

  /** A conversation: one string, or a list of messages, items and strings. */
  addTurns(turns: unknown, role: string): void {
    if (!Array.isArray(turns)) {
      this.add(role, turns);
      return;
    }
    for (const turn of turns) this.add(roleOf(turn, role), turn);
  }

  add(role: string, value: unknown, how: 'words' | 'every_string' = 'words'): void {
    if (value === undefined || value === null) return;
    this.#words = [];
    if (how === 'words') this.#collect(value, 0);
    else this.#collectStrings(value, 0);
    if (this.#words.length > 0) this.#messages.push({ role, content: this.#words.join('\n') });
  }

  inspected(): InspectedText {
    return {
      text: this.#messages.map(({ content }) => content).join('\n'),
      messages: this.#messages,
      skippedParts: this.#skippedParts,
    };
  }

  #collect(value: unknown, depth: number): void {
    if (typeof value === 'string') {
      if (value !== '') this.#words.push(value);
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    if (depth > DEPTH_MAX) {
      this.#skippedParts += 1;
      return;
    }
    if (Array.isArray(value)) {
      for (const each of value) this.#collect(each, depth + 1);
      return;
    }
    const part = value as Record<string, unknown>;
    const data = DATA_TYPES.test(String(part['type'] ?? ''));
    const named = WORDS.filter((name) => Object.hasOwn(part, name) && !(data && name === 'result'));
    if (named.length === 0) this.#skippedParts += 1;
    for (const name of named) {
      // What a tool is called with has names of its own choosing.
      if (name === 'arguments' || name === 'action') this.#collectStrings(part[name], depth + 1);
      else this.#collect(part[name], depth + 1);
    }
  }

  #collectStrings(value: unknown, depth: number): void {
    if (typeof value === 'string') {
      if (value !== '') this.#words.push(value);
    } else if (typeof value === 'object' && value !== null && depth <= DEPTH_MAX) {
      for (const each of Object.values(value)) this.#collectStrings(each, depth + 1);
    }
  }
}

/** Items of the Responses operation that are no message say by their type whose they are. */
function roleOf(turn: unknown, otherwise: string): string {
  const { role, type } = recordOf(turn);
  if (typeof role === 'string') return role;
  if (typeof type !== 'string') return otherwise;
  if (type.endsWith('_output')) return 'tool';
  return type.endsWith('_call') || type === 'reasoning' ? 'assistant' : otherwise;
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
