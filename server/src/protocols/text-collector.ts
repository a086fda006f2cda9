import type { TextMessage } from '../domain/guardrails/template.ts';
import { isObject, objectOf } from '../kit/json-value.ts';
import type { InspectedText } from './protocol.ts';

/** Members in which messages, items and their parts hold text. */
const WORDS = [
  'content',
  'source',
  'title',
  'context',
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

/** The `result` of these types is base64 and can be megabytes long. */
const DATA_TYPES = /image|audio|video|screenshot/;
/** The depth that a request may have. */
const DEPTH_MAX = 256;

/** The text of a request: its instructions, the conversation in the named member, and the variables of its prompt template. */
export function requestText(body: unknown, conversationMember: string): InspectedText {
  const collector = new TextCollector();
  const request = objectOf(body);
  collector.add('system', request['system']);
  collector.add('system', request['instructions']);
  collector.addTurns(request[conversationMember], 'user');
  collector.add('user', objectOf(request['prompt'])['variables'], 'every_string');
  return collector.inspected();
}

/** Collects text from messages, items and parts, whatever type they have. */
export class TextCollector {
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
    const part = objectOf(value);
    const data = DATA_TYPES.test(String(part['type'] ?? ''));
    const named = WORDS.filter((name) => Object.hasOwn(part, name) && !(data && name === 'result'));
    // The source of a document of plain text, as opposed to base64.
    if (part['type'] === 'text' && Object.hasOwn(part, 'data')) named.push('data');
    if (named.length === 0) this.#skippedParts += 1;
    for (const name of named) {
      // The members of a tool's arguments have arbitrary names.
      if (name === 'arguments' || name === 'action' || (name === 'input' && isObject(part[name])))
        this.#collectStrings(part[name], depth + 1);
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

/** Items that are not messages have no role; their type tells who wrote them. */
function roleOf(turn: unknown, otherwise: string): string {
  const { role, type } = objectOf(turn);
  if (typeof role === 'string') return role;
  if (typeof type !== 'string') return otherwise;
  if (type.endsWith('_output')) return 'tool';
  return type.endsWith('_call') || type === 'reasoning' ? 'assistant' : otherwise;
}
