import { isObject, listOf, objectOf } from '../kit/json-value.ts';
import type { AddedSetting } from './splice-body.ts';
import { mayHoldSealed, unsealThinking } from './translate/from-responses/thinking-seal.ts';
import { UNSIGNED } from './translate/writers/messages-open-block.ts';

/*
 * A lane may answer one turn with a translation and the next without. The client then returns thinking that Relay wrote to a provider
 * that has not signed it and would reject the request. Only these blocks are removed; a body without them is not parsed for it.
 */

/** How Relay's thinking is found in the requests of one protocol. */
export interface OwnThinking {
  /** Without parsing the request. */
  mayBeIn(bytes: Buffer): boolean;
  /** The paths of what is removed from a parsed request, as translations name what they leave out. */
  pathsIn(request: unknown): readonly string[];
  readonly removal: AddedSetting;
}

export const unsignedThinking: OwnThinking = {
  mayBeIn: (bytes) => bytes.includes(UNSIGNED),
  pathsIn: (request) =>
    listOf(objectOf(request)['messages']).flatMap((message, index) =>
      listOf(objectOf(message)['content']).flatMap((block, place) =>
        isUnsigned(block) ? [`messages[${index}].content[${place}]`] : [],
      ),
    ),
  removal: {
    name: 'messages',
    merged: (value) => withoutItems(value, keepsMessage),
    appended: '',
  },
};

export const sealedReasoning: OwnThinking = {
  mayBeIn: mayHoldSealed,
  pathsIn: (request) =>
    listOf(objectOf(request)['input']).flatMap((item, index) => (isSealed(item) ? [`input[${index}]`] : [])),
  removal: {
    name: 'input',
    merged: (value) => withoutItems(value, (item) => (isSealed(item) ? null : item)),
    appended: '',
  },
};

/** The list without what `kept` makes null. The same text when nothing changed: the words may also be in what a user wrote. */
function withoutItems(text: string, kept: (item: unknown) => unknown): string {
  const list = parsed(text);
  if (!Array.isArray(list)) return text;
  const rest = list.map(kept);
  if (rest.every((item, index) => item === list[index])) return text;
  return JSON.stringify(rest.filter((item) => item !== null));
}

/** Null for what is not JSON: of a large body only the structure was checked, and the provider judges the rest. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A message that says nothing else is not sent; Messages reject one without content. */
function keepsMessage(message: unknown): unknown {
  if (!isObject(message) || !Array.isArray(message['content'])) return message;
  const { content } = message;
  const rest = content.filter((block: unknown) => !isUnsigned(block));
  if (rest.length === content.length) return message;
  return rest.length === 0 ? null : { ...message, content: rest };
}

function isUnsigned(block: unknown): boolean {
  return isObject(block) && block['type'] === 'thinking' && block['signature'] === UNSIGNED;
}

function isSealed(item: unknown): boolean {
  return isObject(item) && item['type'] === 'reasoning' && unsealThinking(item['encrypted_content']) !== null;
}
