import type { JsonObject } from '../../../kit/json-value.ts';
import { messageContent, textBlocks } from '../chat-to-messages/content.ts';
import { toolUseId } from '../chat-to-messages/tool-use-id.ts';
import { type FieldSorter, MOVED, withoutUndefined } from '../field-sorter.ts';
import type { InputFile, Part } from '../from-responses/parts.ts';
import type { AssistantBlock, SystemTurn, Turn } from '../from-responses/turns.ts';
import { documentSource, imageSource } from '../messages-sources.ts';
import { inputObject } from '../tool-input.ts';

type Role = 'system' | 'user' | 'assistant';

interface Message {
  readonly role: Role;
  readonly content: JsonObject[];
}

export interface Conversation {
  readonly system: string | readonly JsonObject[] | undefined;
  readonly messages: readonly JsonObject[];
}

/** The first system turns are the system prompt; later ones stay in the conversation. */
export function conversationOf(sorter: FieldSorter, turns: readonly Turn[]): Conversation {
  const firstOther = turns.findIndex(({ kind }) => kind !== 'system');
  const systemEnd = firstOther === -1 ? turns.length : firstOther;
  const system = turns
    .slice(0, systemEnd)
    .flatMap((turn) => (turn.kind === 'system' ? systemBlocks(turn) : []));
  const messages = new Messages(sorter);
  for (const turn of turns.slice(systemEnd)) messages.add(turn);
  return { system: system.length === 0 ? undefined : messageContent(system), messages: messages.end() };
}

function systemBlocks({ texts }: SystemTurn): readonly JsonObject[] {
  return texts.flatMap(textBlocks);
}

/** What users and tools say in a row is one message: the results of one turn's calls have to be together, and come first. */
class Messages {
  readonly #sorter: FieldSorter;
  readonly #messages: Message[] = [];
  /** Messages take a system message only after a user's turn: these wait for its end. */
  #waiting: SystemTurn[] = [];
  readonly #moved = new Set<string>();

  constructor(sorter: FieldSorter) {
    this.#sorter = sorter;
  }

  add(turn: Turn): void {
    switch (turn.kind) {
      case 'system':
        this.#waiting.push(turn);
        break;
      case 'user':
        this.#push('user', this.#blocks(turn.parts));
        break;
      case 'results':
        this.#push(
          'user',
          turn.results.map(({ callId, parts }) => toolResult(callId, this.#blocks(parts))),
        );
        break;
      case 'assistant':
        this.#placeSystem();
        this.#push(
          'assistant',
          turn.blocks.flatMap((block) => assistantBlocks(this.#sorter, block)),
        );
        break;
    }
  }

  end(): readonly JsonObject[] {
    this.#placeSystem();
    for (const path of this.#moved) this.#sorter.change(path, MOVED);
    const last = this.#messages.at(-1)?.role;
    if (last === undefined) this.#sorter.refuse('input', 'The Messages API needs at least one message.');
    if (last === 'assistant')
      this.#sorter.refuse(
        'input',
        'The Messages API would continue the last response instead of replying to it.',
      );
    return this.#messages.map(({ role, content }) => ({ role, content: messageContent(content) }));
  }

  #blocks(parts: readonly Part[]): readonly JsonObject[] {
    return parts.flatMap((part) => partBlocks(this.#sorter, part));
  }

  #push(role: Role, blocks: readonly JsonObject[]): void {
    if (blocks.length === 0) return;
    // What waits now stands behind what the client sent after it.
    if (role === 'user') for (const { path } of this.#waiting) this.#moved.add(path);
    const last = this.#messages.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else this.#messages.push({ role, content: [...blocks] });
  }

  #placeSystem(): void {
    const blocks = this.#waiting.flatMap(systemBlocks);
    const path = this.#waiting.at(-1)?.path ?? 'input';
    this.#waiting = [];
    if (blocks.length === 0) return;
    if (this.#messages.at(-1)?.role !== 'user')
      this.#sorter.refuse(
        path,
        'The Messages API accepts a system message in a conversation only after a user message.',
      );
    this.#push('system', blocks);
  }
}

function toolResult(callId: string, blocks: readonly JsonObject[]): JsonObject {
  return withoutUndefined({
    type: 'tool_result',
    tool_use_id: toolUseId(callId),
    content: blocks.length === 0 ? undefined : messageContent(blocks),
  });
}

function assistantBlocks(sorter: FieldSorter, block: AssistantBlock): readonly JsonObject[] {
  switch (block.kind) {
    case 'text':
    case 'refusal':
      return textBlocks(block.text);
    case 'call':
      return [
        {
          type: 'tool_use',
          id: toolUseId(block.callId),
          name: block.name,
          input: inputObject(sorter, block.json, block.path),
        },
      ];
    case 'thinking':
      return [{ type: 'thinking', thinking: block.text, signature: block.signature }];
    case 'redacted_thinking':
      return [{ type: 'redacted_thinking', data: block.data }];
    // Members of a chat, which Messages do not have; nothing of this kind is opened for them.
    case 'members':
    case 'returned_thinking':
      return [];
    default:
      sorter.refuse(block.path, 'A response can contain only text and tool calls.');
      return [];
  }
}

function partBlocks(sorter: FieldSorter, part: Part): readonly JsonObject[] {
  switch (part.kind) {
    case 'text':
      return textBlocks(part.text);
    case 'image':
      return imageBlocks(sorter, part.url, part.path);
    case 'file':
      return documentBlocks(sorter, part.file, part.path);
    case 'refusal':
      sorter.refuse(part.path, 'Only assistant messages can contain a refusal.');
      return [];
    case 'audio':
      sorter.cannotSay(part.path);
      return [];
  }
}

function imageBlocks(sorter: FieldSorter, url: string, path: string): readonly JsonObject[] {
  const source = imageSource(url);
  if (source !== null) return [{ type: 'image', source }];
  sorter.refuse(
    `${path}.image_url`,
    'The Messages API accepts JPEG, PNG, GIF and WebP images, by URL or in base64.',
  );
  return [];
}

function documentBlocks(
  sorter: FieldSorter,
  { data, url, filename }: InputFile,
  path: string,
): readonly JsonObject[] {
  const source = url === null ? documentSource(data ?? '') : { type: 'url', url };
  if (source !== null) return [withoutUndefined({ type: 'document', source, title: filename ?? undefined })];
  sorter.refuse(`${path}.file_data`, 'The Messages API accepts PDF and plain-text files in base64.');
  return [];
}
