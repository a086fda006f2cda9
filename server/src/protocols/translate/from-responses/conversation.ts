import { isObject, type JsonObject, listOf, objectOf } from '../../../kit/json-value.ts';
import type { FieldSorter } from '../field-sorter.ts';
import { type Sealed, unsealed } from '../seal.ts';
import type { ResponsesFields } from './fields.ts';
import { type Part, readParts, stringOrNull } from './parts.ts';
import { CUSTOM_INPUT, wireName } from './tool-names.ts';
import { type Entry, groupTurns, type Turn } from './turns.ts';

/** What a pair has to know to read the input. */
export interface ConversationRules {
  readonly fields: ResponsesFields;
  /** Whether the provider takes back the thinking that it signed, as Messages do, and not members of a chat. */
  readonly returnsThinking: boolean;
  /** Whose seals are opened. */
  readonly maker: string | undefined;
}

/** `instructions` and `input`, as turns. */
export function readConversation(
  sorter: FieldSorter,
  request: JsonObject,
  rules: ConversationRules,
): readonly Turn[] {
  const { instructions, input } = request;
  const entries: Entry[] = [];
  if (typeof instructions === 'string') entries.push(system([instructions], 'instructions'));
  // Earlier versions of the API took items here, and echo them.
  else if (instructions !== undefined && instructions !== null) sorter.cannotSay('instructions');
  return groupTurns([...entries, ...inputEntries(sorter, input, rules)]);
}

function inputEntries(sorter: FieldSorter, input: unknown, rules: ConversationRules): readonly Entry[] {
  if (input === undefined || input === null) return [];
  if (typeof input === 'string')
    return [{ kind: 'user', parts: [{ kind: 'text', text: input, path: 'input' }] }];
  if (!Array.isArray(input)) {
    sorter.wrongKind('input', 'a string or an array of items');
    return [];
  }
  return input.flatMap((item: unknown, index) =>
    readItem(new ItemReader(sorter, rules, `input[${index}]`), item),
  );
}

function readItem(reader: ItemReader, item: unknown): readonly Entry[] {
  if (!isObject(item)) return reader.wrong('an item');
  switch (item['type'] ?? (item['role'] === undefined ? null : 'message')) {
    case 'message':
      return reader.message(item);
    case 'function_call':
      return reader.functionCall(item);
    case 'custom_tool_call':
      return reader.customToolCall(item);
    case 'function_call_output':
      return reader.output(item, 'functionCallOutput');
    case 'custom_tool_call_output':
      return reader.output(item, 'customToolCallOutput');
    case 'reasoning':
      return reader.reasoning(item);
    case 'additional_tools':
      return reader.additionalTools(item);
    case 'item_reference':
      return reader.reference();
    case null:
      return item['id'] === undefined ? reader.unknownType() : reader.reference();
    default:
      return reader.unknownType();
  }
}

/** Reads one item of the input. */
class ItemReader {
  readonly #sorter: FieldSorter;
  readonly #rules: ConversationRules;
  readonly #path: string;

  constructor(sorter: FieldSorter, rules: ConversationRules, path: string) {
    this.#sorter = sorter;
    this.#rules = rules;
    this.#path = path;
  }

  wrong(expected: string): readonly Entry[] {
    this.#sorter.wrongKind(this.#path, expected);
    return [];
  }

  unknownType(): readonly Entry[] {
    this.#sorter.cannotSay(`${this.#path}.type`);
    return [];
  }

  reference(): readonly Entry[] {
    this.#sorter.refuse(
      `${this.#path}.type`,
      'It is an item_reference, and this endpoint keeps no items. Send store: false, so that the client sends items whole.',
    );
    return [];
  }

  message(item: JsonObject): readonly Entry[] {
    this.#sort(item, 'message');
    const parts = readParts(this.#sorter, item['content'], `${this.#path}.content`, this.#rules.fields);
    switch (item['role']) {
      case 'user':
        return [{ kind: 'user', parts }];
      case 'assistant':
        return parts.map((part) => ({ kind: 'assistant', block: part }));
      case 'system':
      case 'developer':
        return [system(this.#texts(parts), `${this.#path}.role`)];
      default:
        this.#sorter.cannotSay(`${this.#path}.role`);
        return [];
    }
  }

  functionCall(item: JsonObject): readonly Entry[] {
    this.#sort(item, 'functionCall');
    return this.#call(item, this.#string(item, 'arguments'), 'arguments');
  }

  /** A custom tool is a function with one string. */
  customToolCall(item: JsonObject): readonly Entry[] {
    this.#sort(item, 'customToolCall');
    return this.#call(item, JSON.stringify({ [CUSTOM_INPUT]: this.#string(item, 'input') }), 'input');
  }

  output(item: JsonObject, kind: 'functionCallOutput' | 'customToolCallOutput'): readonly Entry[] {
    this.#sort(item, kind);
    const parts = readParts(this.#sorter, item['output'], `${this.#path}.output`, this.#rules.fields);
    return [{ kind: 'result', callId: this.#string(item, 'call_id'), parts }];
  }

  /** Only the provider that made the reasoning can read it. What the model then said and did is carried in any case. */
  reasoning(item: JsonObject): readonly Entry[] {
    const seal = unsealed(this.#rules.maker, item['encrypted_content']);
    if (seal === null || isOfMessages(seal) !== this.#rules.returnsThinking) {
      this.#sorter.leaveOut(this.#path);
      return [];
    }
    this.#sort(item, 'reasoningItem');
    const summary = listOf(item['summary']);
    if (seal.kind === 'redacted_thinking' || seal.kind === 'members') {
      if (summary.length > 0) this.#sorter.leaveOut(`${this.#path}.summary`);
      return [{ kind: 'assistant', block: seal }];
    }
    const text = summary.map((part, index) => this.#summaryText(part, index)).join('');
    const block =
      seal.kind === 'text'
        ? ({ kind: 'returned_thinking', text, path: this.#path } as const)
        : { ...seal, text };
    return [{ kind: 'assistant', block }];
  }

  #summaryText(given: unknown, index: number): string {
    const part = objectOf(given);
    const path = `${this.#path}.summary[${index}]`;
    this.#sorter.sort(part, path, this.#rules.fields.summaryText);
    if (part['type'] !== 'summary_text') this.#sorter.cannotSay(`${path}.type`);
    return stringOrNull(part['text']) ?? '';
  }

  /** The tools themselves are read with all others. */
  additionalTools(item: JsonObject): readonly Entry[] {
    this.#sort(item, 'additionalTools');
    return [];
  }

  #call(item: JsonObject, json: string, member: string): readonly Entry[] {
    const name = wireName(stringOrNull(item['namespace']), this.#string(item, 'name'));
    const callId = this.#string(item, 'call_id');
    const path = `${this.#path}.${member}`;
    return [{ kind: 'assistant', block: { kind: 'call', callId, name, json, path } }];
  }

  #texts(parts: readonly Part[]): readonly string[] {
    return parts.flatMap((part) => {
      if (part.kind === 'text') return [part.text];
      this.#sorter.refuse(part.path, 'A system prompt must be text.');
      return [];
    });
  }

  #string(item: JsonObject, name: string): string {
    const value = item[name];
    if (typeof value === 'string') return value;
    this.#sorter.wrongKind(`${this.#path}.${name}`, 'a string');
    return '';
  }

  #sort(item: JsonObject, kind: keyof ResponsesFields): void {
    this.#sorter.sort(item, this.#path, this.#rules.fields[kind]);
  }
}

function system(texts: readonly string[], path: string): Entry {
  return { kind: 'system', texts, path };
}

function isOfMessages({ kind }: Sealed): boolean {
  return kind === 'thinking' || kind === 'redacted_thinking';
}
