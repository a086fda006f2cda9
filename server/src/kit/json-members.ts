/**
 * Finds the members of a JSON object's top level in the text, and measures their values without building them. Callers can then
 * replace one value, leave every other byte unchanged, and judge a large body without a copy of it.
 *
 * The text is decoded as Latin-1, so one character is one byte and positions are byte offsets; JSON's structure is ASCII, so
 * nothing is lost. The scan checks the complete structure, but not the inside of strings or the spelling of numbers and
 * literals: callers that need those checked also parse.
 */

export interface MemberSpan {
  readonly name: string;
  /** The value's first byte. */
  readonly start: number;
  /** One past the value's last byte. */
  readonly end: number;
  /** Bytes of the strings inside, including names of members, without data URLs. */
  readonly textBytes: number;
  readonly numbers: number;
  /** Nested members that have the name the caller asked to count. */
  readonly counted: number;
}

export interface ObjectSpans {
  /** In the order of the text, duplicates included. */
  readonly members: readonly MemberSpan[];
  /** Position of the closing brace. */
  readonly closing: number;
}

export type ScanProblem = 'not_an_object' | 'too_deep' | 'too_many' | 'broken';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

export function scanObject(
  text: string,
  depthMax: number,
  membersMax = Number.POSITIVE_INFINITY,
  countedName: string | null = null,
): ObjectSpans | ScanProblem {
  const scanner = new Scanner(text, depthMax, countedName);
  scanner.skipSpace();
  if (!scanner.take(OPEN_BRACE)) return 'not_an_object';
  const members: MemberSpan[] = [];
  scanner.skipSpace();
  if (!scanner.take(CLOSE_BRACE)) {
    // Each iteration consumes at least a name and a value, so the length of the text bounds the loop.
    do {
      scanner.skipSpace();
      const member = scanner.member();
      if (typeof member === 'string') return member;
      if (members.length >= membersMax) return 'too_many';
      members.push(member);
      scanner.skipSpace();
    } while (scanner.take(COMMA));
    if (!scanner.take(CLOSE_BRACE)) return 'broken';
  }
  const closing = scanner.at - 1;
  scanner.skipSpace();
  return scanner.at === text.length ? { members, closing } : 'broken';
}

class Scanner {
  at = 0;
  readonly #text: string;
  readonly #depthMax: number;
  #textBytes = 0;
  #numbers = 0;
  readonly #countedName: string;
  readonly #countedLength: number;
  #counted = 0;

  constructor(text: string, depthMax: number, countedName: string | null) {
    this.#text = text;
    this.#depthMax = depthMax;
    this.#countedName = countedName ?? '';
    this.#countedLength = countedName?.length ?? -1;
  }

  take(code: number): boolean {
    if (this.#text.charCodeAt(this.at) !== code) return false;
    this.at += 1;
    return true;
  }

  skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.at += 1;
    }
  }

  /** A name, a colon and a value of the top level. */
  member(): MemberSpan | 'too_deep' | 'broken' {
    const nameStart = this.at;
    if (!this.#skipString()) return 'broken';
    const name = decodeName(this.#text, nameStart, this.at);
    this.skipSpace();
    if (!this.take(COLON)) return 'broken';
    this.skipSpace();
    this.#textBytes = 0;
    this.#numbers = 0;
    this.#counted = 0;
    const start = this.at;
    const problem = this.#skipValue();
    if (problem !== null) return problem;
    return {
      name,
      start,
      end: this.at,
      textBytes: this.#textBytes,
      numbers: this.#numbers,
      counted: this.#counted,
    };
  }

  /**
   * Skips one value of any depth, without recursion. A value is followed by a separator or by the end of what encloses it;
   * `inside` has the closing character of each level.
   */
  #skipValue(): 'too_deep' | 'broken' | null {
    const text = this.#text;
    const inside: number[] = [];
    for (;;) {
      const code = text.charCodeAt(this.at);
      if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        // The top-level object counts as the first level.
        if (inside.length + 2 > this.#depthMax) return 'too_deep';
        this.at += 1;
        this.skipSpace();
        if (!this.take(code + 2)) {
          inside.push(code + 2);
          if (code === OPEN_BRACE && !this.#skipName()) return 'broken';
          continue;
        }
      } else if (code === QUOTE) {
        if (!this.#countString()) return 'broken';
      } else if (!this.#skipScalar(code)) {
        return 'broken';
      }
      // A value has ended: close the levels that end with it.
      for (;;) {
        const closing = inside.at(-1);
        if (closing === undefined) return null;
        this.skipSpace();
        if (this.take(COMMA)) {
          this.skipSpace();
          if (closing === CLOSE_BRACE && !this.#skipName()) return 'broken';
          break;
        }
        if (!this.take(closing)) return 'broken';
        inside.pop();
      }
    }
  }

  /** The name of a nested member, its colon, and the space up to the value. */
  #skipName(): boolean {
    const start = this.at;
    if (!this.#skipString()) return false;
    const length = this.at - start - 2;
    this.#textBytes += length;
    if (length === this.#countedLength && this.#text.startsWith(this.#countedName, start + 1))
      this.#counted += 1;
    this.skipSpace();
    if (!this.take(COLON)) return false;
    this.skipSpace();
    return true;
  }

  #countString(): boolean {
    const start = this.at;
    if (!this.#skipString()) return false;
    if (!this.#text.startsWith('data:', start + 1)) this.#textBytes += this.at - start - 2;
    return true;
  }

  #skipString(): boolean {
    const text = this.#text;
    if (text.charCodeAt(this.at) !== QUOTE) return false;
    let from = this.at + 1;
    for (;;) {
      const quote = text.indexOf('"', from);
      if (quote < 0) return false;
      let backslashes = 0;
      while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes += 1;
      from = quote + 1;
      if (backslashes % 2 !== 0) continue;
      this.at = from;
      return true;
    }
  }

  /** Skips a number or literal up to the first character that cannot belong to it. */
  #skipScalar(first: number): boolean {
    const text = this.#text;
    const isNumber = first === 0x2d || (first >= 0x30 && first <= 0x39);
    // true, false, null
    if (!isNumber && first !== 0x74 && first !== 0x66 && first !== 0x6e) return false;
    if (isNumber) this.#numbers += 1;
    for (;;) {
      this.at += 1;
      const code = text.charCodeAt(this.at);
      const isPart = (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x7a) || code === 0x2e;
      if (!isPart && code !== 0x2d && code !== 0x2b && code !== 0x45) return true;
    }
  }
}

/** A name may be written with escapes (`mod\u0065l`). */
function decodeName(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end - 1);
  if (!raw.includes('\\')) return raw;
  try {
    return String(JSON.parse(text.slice(start, end)));
  } catch {
    return raw;
  }
}
