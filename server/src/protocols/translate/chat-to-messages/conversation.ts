import { isObject, type JsonObject } from '../../../kit/json-value.ts';
import { type FieldSorter, MOVED } from '../field-sorter.ts';
import { inputObject } from '../tool-input.ts';
import { messageBlocks, messageContent, said } from './content.ts';
import { chatToMessagesFields as fields } from './fields.ts';
import { toolUseId } from './tool-use-id.ts';

type Role = 'system' | 'user' | 'assistant';

interface Turn {
  readonly role: Role;
  readonly blocks: JsonObject[];
  /** Results of tools alone: what the user says next belongs to the same message. */
  onlyResults: boolean;
}

export interface Conversation {
  readonly system: string | readonly JsonObject[] | undefined;
  readonly messages: readonly JsonObject[];
}

/** The first system messages are the system prompt; later ones stay in the conversation. */
export function conversationOf(sorter: FieldSorter, given: unknown): Conversation {
  if (!Array.isArray(given)) sorter.wrongKind('messages', 'an array of messages');
  const messages = sorter.list(given, 'messages');
  const firstOther = messages.findIndex((message) => !isSystem(message));
  const systemEnd = firstOther === -1 ? messages.length : firstOther;
  const system = messages
    .slice(0, systemEnd)
    .flatMap((message, index) => systemBlocks(sorter, message, `messages[${index}]`));
  const turns = new Turns(sorter);
  for (const [index, message] of messages.entries())
    if (index >= systemEnd) turns.add(message, `messages[${index}]`);
  return {
    system: system.length === 0 ? undefined : messageContent(system),
    messages: turns.end(messages.length),
  };
}

function isSystem(message: unknown): boolean {
  return isObject(message) && (message['role'] === 'system' || message['role'] === 'developer');
}

function systemBlocks(sorter: FieldSorter, message: unknown, path: string): readonly JsonObject[] {
  const { content } = sorter.section(message, path, fields.systemMessage);
  const blocks = messageBlocks(sorter, content, `${path}.content`);
  if (blocks.some(({ type }) => type !== 'text')) sorter.refuse(path, 'A system prompt must be text.');
  return blocks;
}

class Turns {
  readonly #sorter: FieldSorter;
  readonly #turns: Turn[] = [];
  /** Messages take a system message only after a user's turn: these wait for its end. */
  #waiting: JsonObject[] = [];
  readonly #waitingPaths: string[] = [];

  constructor(sorter: FieldSorter) {
    this.#sorter = sorter;
  }

  add(message: unknown, path: string): void {
    const role = isObject(message) ? message['role'] : null;
    switch (role) {
      case 'system':
      case 'developer':
        this.#waiting.push(...systemBlocks(this.#sorter, message, path));
        this.#waitingPaths.push(`${path}.role`);
        break;
      case 'user':
        this.#addUser(this.#sorter.section(message, path, fields.userMessage), path);
        break;
      case 'tool':
        this.#addToolResult(this.#sorter.section(message, path, fields.toolMessage), path);
        break;
      case 'assistant':
        this.#placeSystem();
        this.#push('assistant', assistantBlocks(this.#sorter, message, path));
        break;
      default:
        this.#sorter.cannotSay(isObject(message) ? `${path}.role` : path);
    }
  }

  end(count: number): readonly JsonObject[] {
    this.#placeSystem();
    if (this.#turns.length === 0)
      this.#sorter.refuse('messages', 'The Messages API needs at least one message that is not empty.');
    if (this.#turns.at(-1)?.role === 'assistant')
      this.#sorter.refuse(
        `messages[${count - 1}].role`,
        'The Messages API would continue the last response instead of replying to it.',
      );
    return this.#turns.map(({ role, blocks }) => ({ role, content: messageContent(blocks) }));
  }

  #addUser({ content }: JsonObject, path: string): void {
    const blocks = messageBlocks(this.#sorter, content, `${path}.content`);
    if (blocks.length > 0) this.#nameMoved();
    const last = this.#turns.at(-1);
    if (last?.onlyResults === true) {
      last.blocks.push(...blocks);
      last.onlyResults = false;
    } else this.#push('user', blocks);
  }

  /** The results of one turn's calls have to be in one message. */
  #addToolResult({ content, tool_call_id: id }: JsonObject, path: string): void {
    if (typeof id !== 'string') this.#sorter.wrongKind(`${path}.tool_call_id`, 'a string');
    const blocks = messageBlocks(this.#sorter, content, `${path}.content`);
    const result = {
      type: 'tool_result',
      tool_use_id: toolUseId(String(id)),
      content: messageContent(blocks),
    };
    this.#nameMoved();
    const last = this.#turns.at(-1);
    if (last?.onlyResults === true) last.blocks.push(result);
    else this.#turns.push({ role: 'user', blocks: [result], onlyResults: true });
  }

  #push(role: Role, blocks: readonly JsonObject[]): void {
    if (blocks.length > 0) this.#turns.push({ role, blocks: [...blocks], onlyResults: false });
  }

  /** What waits now stands behind what the client sent after it. */
  #nameMoved(): void {
    for (const path of this.#waitingPaths.splice(0)) this.#sorter.change(path, MOVED);
  }

  #placeSystem(): void {
    if (this.#waiting.length === 0) return;
    if (this.#turns.at(-1)?.role !== 'user')
      this.#sorter.refuse(
        this.#waitingPaths.at(-1) ?? 'messages',
        'The Messages API accepts a system message in a conversation only after a user message.',
      );
    this.#push('system', this.#waiting);
    this.#waiting = [];
    this.#waitingPaths.length = 0;
  }
}

function assistantBlocks(sorter: FieldSorter, given: unknown, path: string): readonly JsonObject[] {
  const message = sorter.section(given, path, fields.assistantMessage);
  const { content, refusal, tool_calls: calls } = message;
  const text =
    content === undefined || content === null ? [] : messageBlocks(sorter, content, `${path}.content`);
  const refused = refusal === undefined || refusal === null ? [] : said(sorter, refusal, `${path}.refusal`);
  const uses = sorter
    .list(calls, `${path}.tool_calls`)
    .map((call, index) => toolUse(sorter, call, `${path}.tool_calls[${index}]`));
  return [...text, ...refused, ...uses];
}

function toolUse(sorter: FieldSorter, given: unknown, path: string): JsonObject {
  const call = sorter.section(given, path, fields.toolCall);
  const { id, type } = call;
  if (type !== undefined && type !== 'function') sorter.cannotSay(`${path}.type`);
  if (typeof id !== 'string') sorter.wrongKind(`${path}.id`, 'a string');
  const { name, arguments: text } = sorter.section(
    call['function'],
    `${path}.function`,
    fields.calledFunction,
  );
  if (typeof text !== 'string') sorter.wrongKind(`${path}.function.arguments`, 'a string');
  const input = inputObject(sorter, String(text), `${path}.function.arguments`);
  return { type: 'tool_use', id: toolUseId(String(id)), name, input };
}
