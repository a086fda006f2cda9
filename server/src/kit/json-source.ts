/**
 * JSON whose values Relay passes on without reading them, such as the input of a tool. Parsing and writing again would change
 * numbers that a double can't hold, the spelling of others (`1.0`), duplicate members, escapes and white space.
 */
import { isObject, type JsonObject, parseObject } from './json-value.ts';

declare global {
  interface JSON {
    /** Node has them, and TypeScript's library does not yet. */
    rawJSON(text: string): object;
    parse(
      text: string,
      reviver: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
  }
}

/** A spelling that `JSON.stringify` has for no text, so that nothing else is taken for the place of a source. */
const PLACE = '"\\u0052elay puts the source of a value here"';
const RAW_PLACE = JSON.rawJSON(PLACE);

/** A value with the text that it came from. `writeJson` writes it; `JSON.stringify` can't. */
export class JsonSource {
  readonly text: string;
  /** The same, parsed: for what has to be known about it, and never to be written. */
  readonly value: unknown;

  constructor(text: string, value: unknown) {
    this.text = text;
    this.value = value;
  }

  toJSON(): unknown {
    return RAW_PLACE;
  }
}

/** Marks a value that stays source text. */
export const KEPT = Symbol('kept');

/** Which values of a document stay source text: by the names of members; a list has the shape of its items. */
export type SourceShape = typeof KEPT | readonly [SourceShape] | { readonly [name: string]: SourceShape };

/** Null for text that is not one JSON object. */
export function objectSource(text: string): JsonSource | null {
  const value = parseObject(text);
  return value === null ? null : new JsonSource(text, value);
}

/** The value, parsed, whether or not its source was kept. */
export function parsedValue(value: unknown): unknown {
  return value instanceof JsonSource ? value.value : value;
}

/** The object with one more member, which it does not have, before the others. */
export function withMember(object: unknown, name: string, value: unknown): unknown {
  const parsed = parsedValue(object);
  if (!isObject(parsed)) return object;
  const extended = { [name]: value, ...parsed };
  if (!(object instanceof JsonSource)) return extended;
  const rest = object.text.slice(object.text.indexOf('{') + 1);
  const separator = Object.keys(parsed).length === 0 ? '' : ',';
  return new JsonSource(`{${JSON.stringify(name)}:${writeJson(value)}${separator}${rest}`, extended);
}

/** `JSON.stringify` for values with sources inside. The value must be one that JSON has. */
export function writeJson(value: unknown): string {
  const sources: JsonSource[] = [];
  collectSources(value, sources);
  const written = JSON.stringify(value);
  let next = 0;
  return sources.length === 0 ? written : written.replaceAll(PLACE, () => sources[next++]?.text ?? '');
}

/** In the order in which they are written. */
function collectSources(value: unknown, sources: JsonSource[]): void {
  if (value instanceof JsonSource) sources.push(value);
  else if (Array.isArray(value)) for (const item of value) collectSources(item, sources);
  else if (isObject(value)) for (const name of Object.keys(value)) collectSources(value[name], sources);
}

/** `JSON.parse`, with a `JsonSource` for each value that the shape keeps. */
export function parseKeeping(text: string, shape: SourceShape): unknown {
  const value: unknown = JSON.parse(text);
  const found = new SourceScanner(text).valueAt(0, shape);
  return found === null ? value : withSources(value, found);
}

/** Null for text that is not a JSON object. */
export function parseObjectKeeping(text: string, shape: SourceShape): JsonObject | null {
  try {
    const value = parseKeeping(text, shape);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The text of a value, or what was found inside of it. */
type Found = string | ReadonlyMap<string | number, Found>;

/** Changes the value: no other code has it yet. */
function withSources(value: unknown, found: Found): unknown {
  if (typeof found === 'string') return new JsonSource(found, value);
  const parent = value as Record<string | number, unknown>;
  for (const [step, inside] of found) parent[step] = withSources(parent[step], inside);
  return value;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
/** The letter n, which no other value begins with. */
const FIRST_OF_NULL = 0x6e;
const OPEN_BRACE = 0x7b;
/** A closing bracket or brace is two past its opening one. */
const TO_CLOSING = 2;

/** Characters of a string that are looked at one by one. A search is dearer to start; where one escape is, the next is near. */
const NEAR_CHARACTERS = 12;
/** By character: 1 for quotes, brackets and braces, which change the depth or begin a string. */
const IN_STRUCTURE = new Uint8Array(128);
for (const each of '"[]{}') IN_STRUCTURE[each.charCodeAt(0)] = 1;
/** By character: 1 for what may end a number or a literal. */
const ENDS_SCALAR = new Uint8Array(128);
for (const each of ',]} \t\n\r') ENDS_SCALAR[each.charCodeAt(0)] = 1;

/** Follows the structure of a text that `JSON.parse` has accepted, so that nothing is checked twice. */
class SourceScanner {
  readonly #text: string;
  /** Where the value ends that was scanned last. */
  #end = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Null when nothing of the shape is there. */
  valueAt(from: number, shape: SourceShape | undefined): Found | null {
    const start = this.#afterSpace(from);
    const code = this.#text.charCodeAt(start);
    if (shape === KEPT || shape === undefined) {
      this.#end = this.#valueEnd(start, code);
      // Null is what an absent member is, and has one spelling.
      return shape === KEPT && code !== FIRST_OF_NULL ? this.#text.slice(start, this.#end) : null;
    }
    if (code === OPEN_BRACE && !isList(shape)) return this.#members(start, shape);
    if (code === OPEN_BRACKET && isList(shape)) return this.#items(start, shape[0]);
    this.#end = this.#valueEnd(start, code);
    return null;
  }

  /** Of members with one name the last one counts, as for `JSON.parse`. */
  #members(start: number, shape: { readonly [name: string]: SourceShape }): Found | null {
    const found = new Map<string, Found>();
    let at = this.#afterSpace(start + 1);
    while (this.#text.charCodeAt(at) === QUOTE) {
      const nameEnd = this.#stringEnd(at);
      const name = nameIn(this.#text.slice(at + 1, nameEnd - 1));
      const inside = this.valueAt(
        this.#afterSpace(nameEnd) + 1,
        Object.hasOwn(shape, name) ? shape[name] : undefined,
      );
      if (inside === null) found.delete(name);
      else found.set(name, inside);
      at = this.#afterItem();
    }
    this.#end = at + 1;
    return found.size === 0 ? null : found;
  }

  #items(start: number, shape: SourceShape): Found | null {
    const found = new Map<number, Found>();
    let at = this.#afterSpace(start + 1);
    for (let index = 0; this.#text.charCodeAt(at) !== OPEN_BRACKET + TO_CLOSING; index += 1) {
      const inside = this.valueAt(at, shape);
      if (inside !== null) found.set(index, inside);
      at = this.#afterItem();
    }
    this.#end = at + 1;
    return found.size === 0 ? null : found;
  }

  /** The start of the next member or item, or the closing character. */
  #afterItem(): number {
    const at = this.#afterSpace(this.#end);
    return this.#text.charCodeAt(at) === COMMA ? this.#afterSpace(at + 1) : at;
  }

  #valueEnd(start: number, code: number): number {
    if (code === QUOTE) return this.#stringEnd(start);
    const text = this.#text;
    let at = start + 1;
    if (code !== OPEN_BRACE && code !== OPEN_BRACKET) {
      while (at < text.length && ENDS_SCALAR[text.charCodeAt(at)] !== 1) at += 1;
      return at;
    }
    for (let depth = 1; depth > 0; ) {
      const found = text.charCodeAt(at);
      if (IN_STRUCTURE[found] !== 1) at += 1;
      else if (found === QUOTE) at = this.#stringEnd(at);
      else {
        depth += found === OPEN_BRACE || found === OPEN_BRACKET ? 1 : -1;
        at += 1;
      }
    }
    return at;
  }

  #stringEnd(start: number): number {
    const text = this.#text;
    let at = start + 1;
    for (;;) {
      const nearEnd = at + NEAR_CHARACTERS;
      while (at < nearEnd) {
        const code = text.charCodeAt(at);
        if (code === QUOTE) return at + 1;
        at += code === BACKSLASH ? 2 : 1;
      }
      const quote = text.indexOf('"', at);
      let before = quote - 1;
      while (before >= at && text.charCodeAt(before) === BACKSLASH) before -= 1;
      at = quote + 1;
      if ((quote - before) % 2 === 1) return at;
    }
  }

  #afterSpace(from: number): number {
    let at = from;
    // Every space of JSON is at most 0x20, and no other character of its structure is.
    while (this.#text.charCodeAt(at) <= 0x20) at += 1;
    return at;
  }
}

function isList(shape: SourceShape): shape is readonly [SourceShape] {
  return Array.isArray(shape);
}

/** A name may be written with escapes (`inp\u0075t`). */
function nameIn(raw: string): string {
  return raw.includes('\\') ? String(JSON.parse(`"${raw}"`)) : raw;
}
