import { type JsonSource, KEPT, parsedValue, parseKeeping, writeJson } from '../kit/json-source.ts';
import { isObject, listOf, objectOf } from '../kit/json-value.ts';
import type { AddedSetting } from './splice-body.ts';
import { isRelays, mayHoldSeals } from './translate/seal.ts';

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
  mayBeIn: mayHoldSeals,
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
  mayBeIn: mayHoldSeals,
  pathsIn: (request) =>
    listOf(objectOf(request)['input']).flatMap((item, index) => (isSealed(item) ? [`input[${index}]`] : [])),
  removal: {
    name: 'input',
    merged: (value) => withoutItems(value, (item) => (isSealed(parsedValue(item)) ? null : item)),
    appended: '',
  },
};

/**
 * The list without what `kept` makes null; what stays keeps its text. The same text when nothing changed: the words may also be in what a
 * user wrote.
 */
function withoutItems(text: string, kept: (item: unknown) => unknown): string {
  const list = itemsOf(text);
  if (!Array.isArray(list)) return text;
  const rest = list.map(kept);
  if (rest.every((item, index) => item === list[index])) return text;
  return writeJson(rest.filter((item) => item !== null));
}

/** Null for what is not JSON: of a large body only the structure was checked, and the provider judges the rest. */
function itemsOf(text: string): unknown {
  try {
    return parseKeeping(text, [KEPT]);
  } catch {
    return null;
  }
}

/** A message that says nothing else is not sent; Messages reject one without content. */
function keepsMessage(item: unknown): unknown {
  const { content } = objectOf(parsedValue(item));
  if (!listOf(content).some(isUnsigned)) return item;
  const message = objectOf(parseKeeping((item as JsonSource).text, { content: [KEPT] }));
  const rest = listOf(message['content']).filter((block) => !isUnsigned(parsedValue(block)));
  return rest.length === 0 ? null : { ...message, content: rest };
}

function isUnsigned(block: unknown): boolean {
  if (!isObject(block)) return false;
  const { type, signature, data } = block;
  return (type === 'thinking' && isRelays(signature)) || (type === 'redacted_thinking' && isRelays(data));
}

function isSealed(item: unknown): boolean {
  return isObject(item) && item['type'] === 'reasoning' && isRelays(item['encrypted_content']);
}
