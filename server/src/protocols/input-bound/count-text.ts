import type { Steps } from '../../kit/slices.ts';
import { hashLetter, wordCosts } from './word-costs.ts';

/** The most tokens that some JSON can be. */
export interface TextBound {
  /** By the tokenizers whose words Relay knows. */
  readonly tokens: number;
  /** By any tokenizer whose smallest token is a byte. */
  readonly bytes: number;
}

const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const U = 0x75;

/** What stands before a letter decides what its word costs. */
const BEFORE = {
  /** The string begins. A provider may join it to the one before. */
  start: 0,
  /** One space. */
  space: 1,
  /** Spaces that tokens may take together. */
  spaces: 2,
  /** A character that no token spans together with letters, or only as the costs allow for. */
  cut: 3,
  /** Anything else: letters of another alphabet, accents, control characters. */
  joined: 4,
} as const;

const IS_LETTER = new Uint8Array(256);
for (let code = 0x41; code <= 0x5a; code += 1) {
  IS_LETTER[code] = 1;
  IS_LETTER[code + 0x20] = 1;
}
/** Printable ASCII other than letters. An apostrophe may begin a contraction, which is cut out of the word behind it. */
const IS_CUT = new Uint8Array(256);
for (let code = 0x21; code < 0x7f; code += 1)
  if (IS_LETTER[code] === 0 && code !== APOSTROPHE) IS_CUT[code] = 1;

/** Bytes between two pauses. */
const STEP_BYTES = 64 * 1024;

/**
 * Counts a JSON value from its bytes. Every byte of its text and structure is a token, except in words that Relay knows: their costs hold
 * because none of the tested tokenizers has a token with a letter and a character that counts as a cut, other than those with which
 * the costs were measured.
 */
export function* countText(bytes: Buffer, from: number, end: number): Steps<TextBound> {
  const count = new Count(bytes, end);
  let at = from;
  while (at < end) {
    at = count.next(at, Math.min(end, at + STEP_BYTES));
    if (at < end) yield;
  }
  return count;
}

class Count implements TextBound {
  tokens = 0;
  bytes = 0;
  readonly #bytes: Buffer;
  readonly #end: number;
  readonly #costs = wordCosts();
  #inString = false;
  #before: number = BEFORE.start;
  /** What words at the edges of the open string cost more if the provider joins it to other text. */
  #edgeTokens = 0;

  constructor(bytes: Buffer, end: number) {
    this.#bytes = bytes;
    this.#end = end;
  }

  /** Counts at least up to `until`, and returns where it stopped. */
  next(from: number, until: number): number {
    let at = from;
    while (at < until) at = this.#inString ? this.#text(at, until) : this.#structure(at, until);
    return at;
  }

  /** White space between values never reaches a model. */
  #structure(from: number, until: number): number {
    const bytes = this.#bytes;
    for (let at = from; at < until; at += 1) {
      const code = bytes[at] ?? 0;
      if (code > SPACE) this.#add(1);
      if (code !== QUOTE) continue;
      this.#inString = true;
      this.#before = BEFORE.start;
      this.#edgeTokens = 0;
      return at + 1;
    }
    return until;
  }

  #text(from: number, until: number): number {
    const bytes = this.#bytes;
    let at = from;
    while (at < until) {
      const code = bytes[at] ?? 0;
      if (IS_LETTER[code] === 1) at = this.#word(at);
      else if (code === SPACE) at = this.#space(at);
      else if (code === QUOTE) return this.#stringEnd(at);
      else if (code === BACKSLASH) at = this.#escape(at);
      else {
        this.#add(1);
        const isCut = IS_CUT[code] === 1 || (code >= 0x80 && code < 0xc0 && isPunctuation(bytes, at - 2));
        this.#before = isCut ? BEFORE.cut : BEFORE.joined;
        at += 1;
      }
    }
    return at;
  }

  #add(tokens: number): void {
    this.tokens += tokens;
    this.bytes += tokens;
  }

  #space(at: number): number {
    this.#add(1);
    // What is not ASCII may be another way to write a space.
    this.#before = this.#before === BEFORE.cut ? BEFORE.space : BEFORE.spaces;
    return at + 1;
  }

  #word(from: number): number {
    const bytes = this.#bytes;
    const { lettersMax } = this.#costs;
    const hashedEnd = Math.min(this.#end, from + lettersMax);
    let hash = 0;
    let at = from;
    while (at < hashedEnd && IS_LETTER[bytes[at] ?? 0] === 1) {
      hash = hashLetter(hash, bytes[at] ?? 0);
      at += 1;
    }
    while (IS_LETTER[bytes[at] ?? 0] === 1) at += 1;
    const letters = at - from;
    const cost = letters > lettersMax ? letters : Math.min(letters, this.#cost(from, at, hash));
    this.bytes += letters;
    this.tokens += cost;
    if (this.#before === BEFORE.start || bytes[at] === QUOTE) this.#edgeTokens += letters - cost;
    this.#before = BEFORE.cut;
    return at;
  }

  /** The letters themselves where nothing better is known. The spaces before them are counted already. */
  #cost(from: number, end: number, hash: number): number {
    const before = this.#before;
    const bytes = this.#bytes;
    const letters = end - from;
    if (before === BEFORE.joined || !isCutAt(bytes, end, before === BEFORE.space)) return letters;
    const index = this.#costs.find(bytes, from, end, hash);
    if (index < 0) return letters;
    const spaced = this.#costs.spaced[index] ?? letters;
    const bare = this.#costs.bare[index] ?? letters;
    if (before === BEFORE.space) return spaced - 1;
    if (before === BEFORE.spaces) return Math.max(spaced - 1, bare);
    return before === BEFORE.start ? Math.max(spaced, bare) : bare;
  }

  #stringEnd(at: number): number {
    const bytes = this.#bytes;
    this.#add(1);
    this.#inString = false;
    let next = at + 1;
    while ((bytes[next] ?? 0) <= SPACE && next < this.#end) next += 1;
    // Names of members are not joined to anything.
    if (bytes[next] !== COLON) this.tokens += this.#edgeTokens;
    return at + 1;
  }

  #escape(at: number): number {
    const bytes = this.#bytes;
    if (bytes[at + 1] !== U) {
      const isCut = isCutAt(bytes, at, false);
      this.#add(isCut ? 1 : 2);
      this.#before = isCut ? BEFORE.cut : BEFORE.joined;
      return at + 2;
    }
    const unit = unitAt(bytes, at);
    if (unit === SPACE) this.#before = BEFORE.spaces;
    else this.#before = isPunctuationUnit(unit) ? BEFORE.cut : BEFORE.joined;
    if (isHighSurrogate(unit) && isLowSurrogate(unitAt(bytes, at + 6))) {
      this.#add(4);
      return at + 12;
    }
    this.#add(utf8Bytes(unit));
    return at + 6;
  }
}

/** Whether no token spans what ends here and what follows. `withContraction`: an apostrophe may follow, as the costs allow for. */
function isCutAt(bytes: Buffer, at: number, withContraction: boolean): boolean {
  const code = bytes[at] ?? 0;
  if (code === APOSTROPHE) return withContraction;
  if (code === BACKSLASH) return isPlainEscape(bytes[at + 1] ?? 0) || isPunctuationUnit(unitAt(bytes, at));
  return IS_CUT[code] === 1 || code === SPACE || isPunctuation(bytes, at);
}

/** Quotes, slashes, line ends and tabs. */
function isPlainEscape(code: number): boolean {
  return (
    code === QUOTE || code === BACKSLASH || code === 0x2f || code === 0x6e || code === 0x72 || code === 0x74
  );
}

/** U+2000 to U+203F, general punctuation: quotation marks, dashes and the like. */
function isPunctuation(bytes: Buffer, at: number): boolean {
  return bytes[at] === 0xe2 && bytes[at + 1] === 0x80;
}

function isPunctuationUnit(unit: number): boolean {
  return unit >= 0x2000 && unit < 0x2040;
}

/** The code unit of `\uXXXX`; -1 where there is none. */
function unitAt(bytes: Buffer, at: number): number {
  if (bytes[at] !== BACKSLASH || bytes[at + 1] !== U) return -1;
  const digits = bytes.toString('latin1', at + 2, at + 6);
  return /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : -1;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

/** Of half a pair as well: a parser puts U+FFFD in its place. What is not an escape counts as it stands. */
function utf8Bytes(unit: number): number {
  if (unit < 0) return 6;
  if (unit < 0x80) return 1;
  return unit < 0x800 ? 2 : 3;
}
