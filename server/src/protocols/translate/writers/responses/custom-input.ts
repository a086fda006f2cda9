import { parseObject } from '../../../../kit/json-value.ts';
import { CUSTOM_INPUT } from '../../from-responses/tool-names.ts';

const OPENING = /^\s*\{\s*"input"\s*:\s*"/;
/** Past this length the opening does not come any more, however the model writes its spaces. */
const OPENING_LENGTH_MAX = 100;
const SIMPLE_ESCAPE_LENGTH = 2;
const UNICODE_ESCAPE_LENGTH = 6;
const HIGH_SURROGATE = /^\\ud[89ab]/i;
const LOW_SURROGATE = /^\\ud[c-f]/i;
const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** Reads the text of `{"input": "…"}` while its JSON still arrives in pieces, which may end anywhere. */
export class CustomInput {
  #json = '';
  /** What was not decoded yet; null once the text's closing quote was seen. */
  #rest: string | null = '';
  #opened = false;
  #text = '';

  /** All pieces so far. */
  get json(): string {
    return this.#json;
  }

  /** What can be said of the text now, which may be nothing. */
  add(json: string): string {
    this.#json += json;
    if (this.#rest === null) return '';
    this.#rest += json;
    if (!this.#opened) this.#open();
    if (!this.#opened) return '';
    const piece = this.#decode();
    this.#text += piece;
    return piece;
  }

  /** The whole text. A model that kept to no schema gets its own words back, so that its client can tell it. */
  whole(): string {
    if (this.#opened) return this.#text;
    const input = parseObject(this.#json)?.[CUSTOM_INPUT];
    return typeof input === 'string' ? input : this.#json;
  }

  #open(): void {
    const rest = this.#rest ?? '';
    const opening = OPENING.exec(rest.slice(0, OPENING_LENGTH_MAX));
    if (opening === null) {
      if (rest.length > OPENING_LENGTH_MAX) this.#rest = null;
      return;
    }
    this.#opened = true;
    this.#rest = rest.slice(opening[0].length);
  }

  #decode(): string {
    const rest = this.#rest ?? '';
    const end = wholeCharacters(rest);
    this.#rest = rest.charAt(end) === '"' ? null : rest.slice(end);
    return decoded(rest.slice(0, end));
  }
}

/** How far the inside of a JSON string can be decoded: up to its closing quote, an unfinished escape, or half a surrogate pair. */
function wholeCharacters(json: string): number {
  let at = 0;
  while (at < json.length) {
    const length = characterLength(json, at);
    if (length === 0) return at;
    at += length;
  }
  return at;
}

function characterLength(json: string, at: number): number {
  const character = json.charAt(at);
  if (character === '"') return 0;
  if (character !== '\\') return /[\uD800-\uDBFF]/.test(character) && at + 1 === json.length ? 0 : 1;
  const length = escapeLength(json, at);
  return length === UNICODE_ESCAPE_LENGTH && HIGH_SURROGATE.test(json.slice(at, at + length))
    ? pairLength(json, at)
    : length;
}

/** 0 while the escape can still grow. */
function escapeLength(json: string, at: number): number {
  const found = json.slice(at, at + UNICODE_ESCAPE_LENGTH);
  if (found.length < SIMPLE_ESCAPE_LENGTH || /^\\u[0-9a-f]{0,3}$/i.test(found)) return 0;
  return /^\\u[0-9a-f]{4}$/i.test(found) ? UNICODE_ESCAPE_LENGTH : SIMPLE_ESCAPE_LENGTH;
}

/** Clients reject half a pair, so that both halves have to be said in one piece. */
function pairLength(json: string, at: number): number {
  const second = at + UNICODE_ESCAPE_LENGTH;
  if (second === json.length) return 0;
  if (json.charAt(second) !== '\\') return UNICODE_ESCAPE_LENGTH;
  const length = escapeLength(json, second);
  return length === 0
    ? 0
    : second - at + (LOW_SURROGATE.test(json.slice(second, second + length)) ? length : 0);
}

/**
 * Not `JSON.parse`, because models write line ends unescaped and escapes that JSON does not have; both are clear, and where the
 * pieces end must not change what they say.
 */
function decoded(json: string): string {
  return json.replace(
    /\\(?:u([0-9a-f]{4})|(.))/gis,
    (_escape, code: string | undefined, character: string) =>
      code === undefined ? (ESCAPES[character] ?? character) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
