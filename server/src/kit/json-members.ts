/**
 * Finds the members of a JSON object's top level in its bytes, and measures their values without building them. Callers can then
 * replace one value, leave every other byte unchanged, and judge a large body without a copy of it.
 *
 * JSON's structure is ASCII, so bytes are enough to follow it. The scan checks the complete structure, but not the inside of
 * strings or the spelling of numbers and literals: callers that need those checked also parse.
 *
 * The scan may pause every few thousand bytes, whatever they are, so that a large body does not block the event loop.
 */
import { finish, type Steps } from './slices.ts';

export interface MemberSpan {
  readonly name: string;
  /** The value's first byte. */
  readonly start: number;
  /** One past the value's last byte. */
  readonly end: number;
  /** Bytes of the strings inside, including names of members and long numbers, without `imageBytes` and `fileBytes`. */
  readonly textBytes: number;
  /** Numbers and literals. */
  readonly scalars: number;
  /** Values of any kind, this one included: what it costs to build them. */
  readonly values: number;
  /** Members of the objects inside, duplicates included. */
  readonly nested: number;
  /** What the caller's meter found inside; null without a meter. */
  readonly media: MediaCounts | null;
}

/** What is not text. */
export interface MediaCounts {
  /** Images and files. */
  readonly items: number;
  /** Images among them that are here completely. */
  readonly images: number;
  /** Texts in the place of an image that are not one: addresses. */
  readonly links: number;
  readonly imageBytes: number;
  readonly fileBytes: number;
  /** References to content that is not here: a file that the provider stores or fetches. */
  readonly remote: number;
}

/**
 * Tells apart what is text and what is not, while the scan passes over a member of the top level. Positions are those of quotes; a
 * level is the number of objects and lists around, below the member.
 */
export interface MediaMeter {
  /** A member of the top level begins. */
  reset(): void;
  name(from: number, end: number, level: number): void;
  open(level: number, isObject: boolean): void;
  /** Whether the string is something else than text. */
  takes(from: number, end: number, level: number): boolean;
  /** The bytes that turned out to be text when the object or list closed. */
  close(level: number): number;
  counts(): MediaCounts;
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
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Bytes of a string that are looked at one by one. A search for its end is dearer to start and cheaper for each byte. */
const NEAR_BYTES = 12;
/** Quotes are searched in text, which is much faster than in bytes. The text of a large body in one piece would cost more than the search. */
const WINDOW_BYTES = 32 * 1024;
/** By character: 1 for those that a number or literal may have. */
const IN_SCALAR = new Uint8Array(256);
for (const each of '0123456789abcdefghijklmnopqrstuvwxyz.-+E') IN_SCALAR[each.charCodeAt(0)] = 1;
/** A token id has at most seven digits. A longer number is read as text. */
const SHORT_NUMBER_BYTES = 8;

/** The whole scan now. */
export function scanObject(
  bytes: Buffer,
  depthMax: number,
  membersMax = Number.POSITIVE_INFINITY,
  meter: MediaMeter | null = null,
): ObjectSpans | ScanProblem {
  return finish(scanSteps(bytes, depthMax, membersMax, meter));
}

export function* scanSteps(
  bytes: Buffer,
  depthMax: number,
  membersMax = Number.POSITIVE_INFINITY,
  meter: MediaMeter | null = null,
): Steps<ObjectSpans | ScanProblem> {
  const scanner = new Scanner(bytes, depthMax, meter);
  let at = afterSpace(bytes, 0);
  if (bytes[at] !== OPEN_BRACE) return 'not_an_object';
  const members: MemberSpan[] = [];
  at = afterSpace(bytes, at + 1);
  if (bytes[at] !== CLOSE_BRACE) {
    // Each iteration consumes at least a name and a value, so the length of the text bounds the loop.
    for (;;) {
      const member = yield* scanner.member(at);
      if (typeof member === 'string') return member;
      if (members.length >= membersMax) return 'too_many';
      members.push(member);
      at = afterSpace(bytes, member.end);
      if (bytes[at] !== COMMA) break;
      at = afterSpace(bytes, at + 1);
    }
    if (bytes[at] !== CLOSE_BRACE) return 'broken';
  }
  const end = afterSpace(bytes, at + 1);
  return end === bytes.length ? { members, closing: at } : 'broken';
}

/** Bytes between two pauses. The dearest ones take about 20 ns each. */
const STEP_BYTES = 32 * 1024;
/** The same for text without a quote, which is searched much faster. */
const PLAIN_STEP_BYTES = 1024 * 1024;
/** A run of white space is not paused in. No client writes one of this length; a longer one counts as broken. */
const SPACE_BYTES_MAX = 256 * 1024;

/** Where something ends that is broken, nested too deep, or not yet read to its end. */
const BROKEN = -1;
const TOO_DEEP = -2;
const PAUSED = -3;

class Scanner {
  readonly #bytes: Buffer;
  readonly #depthMax: number;
  #textBytes = 0;
  #scalars = 0;
  #values = 0;
  #nested = 0;
  readonly #meter: MediaMeter | null;
  #window = '';
  #windowStart = 0;
  /** Of all members, because an object may have millions of small ones. */
  #pauseAt = STEP_BYTES;
  #stringStart = 0;
  /** Where the search for the end of that string continues. */
  #pausedAt = 0;

  constructor(bytes: Buffer, depthMax: number, meter: MediaMeter | null) {
    this.#bytes = bytes;
    this.#depthMax = depthMax;
    this.#meter = meter;
  }

  /** A name, a colon and a value of the top level. */
  *member(from: number): Steps<MemberSpan | 'too_deep' | 'broken'> {
    const bytes = this.#bytes;
    let nameEnd = this.#stringEnd(from);
    if (nameEnd === PAUSED) nameEnd = yield* this.#longStringEnd();
    if (nameEnd < 0) return 'broken';
    const colon = afterSpace(bytes, nameEnd);
    if (bytes[colon] !== COLON) return 'broken';
    this.#textBytes = 0;
    this.#scalars = 0;
    this.#values = 0;
    this.#nested = 0;
    this.#meter?.reset();
    const start = afterSpace(bytes, colon + 1);
    const end = yield* this.#valueEnd(start);
    if (end < 0) return end === TOO_DEEP ? 'too_deep' : 'broken';
    return {
      name: decodeName(bytes, from, nameEnd),
      start,
      end,
      textBytes: this.#textBytes,
      scalars: this.#scalars,
      values: this.#values,
      nested: this.#nested,
      media: this.#meter?.counts() ?? null,
    };
  }

  /**
   * Skips one value of any depth, without recursion. A value is followed by a separator or by the end of what encloses it;
   * `inside` has the closing character of each level, the innermost in `closing`.
   */
  *#valueEnd(from: number): Steps<number> {
    const bytes = this.#bytes;
    const inside: number[] = [];
    let closing = 0;
    let at = from;
    for (;;) {
      if (at >= this.#pauseAt) {
        yield;
        this.#pauseAt = at + STEP_BYTES;
      }
      this.#values += 1;
      const code = bytes[at] ?? 0;
      if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        // The top-level object counts as the first level.
        if (inside.length + 2 > this.#depthMax) return TOO_DEEP;
        at = afterSpace(bytes, at + 1);
        if (bytes[at] !== code + 2) {
          inside.push(closing);
          closing = code + 2;
          this.#meter?.open(inside.length, code === OPEN_BRACE);
          if (code === OPEN_BRACE) at = this.#nameEnd(at, inside.length);
          if (at === PAUSED) at = yield* this.#longNameEnd(inside.length);
          if (at < 0) return BROKEN;
          continue;
        }
        at += 1;
      } else {
        const inList = closing === CLOSE_BRACKET;
        at = code === QUOTE ? this.#textEnd(at, inside.length) : this.#scalarEnd(at, code, inList);
        if (at === PAUSED) at = this.#countText(yield* this.#longStringEnd(), inside.length);
        if (at < 0) return BROKEN;
      }
      // A value has ended: close the levels that end with it.
      for (;;) {
        if (closing === 0) return at;
        at = afterSpace(bytes, at);
        if (bytes[at] === COMMA) {
          at = afterSpace(bytes, at + 1);
          if (closing === CLOSE_BRACE) at = this.#nameEnd(at, inside.length);
          if (at === PAUSED) at = yield* this.#longNameEnd(inside.length);
          if (at < 0) return BROKEN;
          break;
        }
        if (bytes[at] !== closing) return BROKEN;
        at += 1;
        this.#textBytes += this.#meter?.close(inside.length) ?? 0;
        closing = inside.pop() ?? 0;
      }
    }
  }

  /** Past the name of a nested member, its colon, and the space up to the value. */
  #nameEnd(from: number, level: number): number {
    return this.#countName(this.#stringEnd(from), level);
  }

  *#longNameEnd(level: number): Steps<number> {
    return this.#countName(yield* this.#longStringEnd(), level);
  }

  #countName(end: number, level: number): number {
    if (end < 0) return end;
    const bytes = this.#bytes;
    this.#textBytes += end - this.#stringStart - 2;
    this.#nested += 1;
    this.#meter?.name(this.#stringStart, end, level);
    const colon = afterSpace(bytes, end);
    return bytes[colon] === COLON ? afterSpace(bytes, colon + 1) : BROKEN;
  }

  #textEnd(from: number, level: number): number {
    return this.#countText(this.#stringEnd(from), level);
  }

  #countText(end: number, level: number): number {
    if (end < 0) return end;
    const from = this.#stringStart;
    if (this.#meter?.takes(from, end, level) !== true) this.#textBytes += end - from - 2;
    return end;
  }

  /** Past the closing quote; negative when it is missing, there is no string, or the search has paused. */
  #stringEnd(from: number): number {
    this.#stringStart = from;
    return this.#bytes[from] === QUOTE ? this.#restEnd(from + 1) : BROKEN;
  }

  *#longStringEnd(): Steps<number> {
    for (;;) {
      yield;
      const end = this.#restEnd(this.#pausedAt);
      if (end !== PAUSED) return end;
    }
  }

  #restEnd(from: number): number {
    const bytes = this.#bytes;
    const stepEnd = Math.min(from + STEP_BYTES, bytes.length);
    let at = from;
    while (at < stepEnd) {
      let nearEnd = Math.min(at + NEAR_BYTES, stepEnd);
      while (at < nearEnd) {
        const code = bytes[at];
        if (code === QUOTE) return at + 1;
        at += 1;
        if (code !== BACKSLASH) continue;
        // Where one escape is, the next is near.
        for (at += 1; at < stepEnd && bytes[at] === BACKSLASH; ) at += 2;
        nearEnd = Math.min(at + NEAR_BYTES, stepEnd);
      }
      const quote = this.#nextQuote(at);
      if (quote === BROKEN) return BROKEN;
      const found = quote === PAUSED ? this.#pausedAt : quote;
      let backslashes = 0;
      while (found - backslashes > at && bytes[found - 1 - backslashes] === BACKSLASH) backslashes += 1;
      const isEscaped = backslashes % 2 === 1;
      if (quote === PAUSED) {
        // The search continues behind the escape.
        if (isEscaped) this.#pausedAt += 1;
        return PAUSED;
      }
      at = quote + 1;
      if (!isEscaped) return at;
    }
    this.#pausedAt = at;
    return at < bytes.length ? PAUSED : BROKEN;
  }

  /** Positions only grow, so every byte is in one window at most. */
  #nextQuote(from: number): number {
    const bytes = this.#bytes;
    let at = from;
    while (at < bytes.length) {
      if (at - from >= PLAIN_STEP_BYTES) {
        this.#pausedAt = at;
        return PAUSED;
      }
      const windowEnd = this.#windowStart + this.#window.length;
      if (at >= windowEnd) {
        this.#windowStart = at;
        this.#window = bytes.toString('latin1', at, Math.min(at + WINDOW_BYTES, bytes.length));
      }
      const found = this.#window.indexOf('"', at - this.#windowStart);
      if (found >= 0) return this.#windowStart + found;
      at = this.#windowStart + this.#window.length;
    }
    return BROKEN;
  }

  /**
   * Past a number or literal, at the first character that cannot belong to it. Numbers of a list that follow without a space are skipped
   * together: an embedding has thousands.
   */
  #scalarEnd(from: number, first: number, inList: boolean): number {
    const bytes = this.#bytes;
    // true, false, null
    if (!startsNumber(first) && first !== 0x74 && first !== 0x66 && first !== 0x6e) return BROKEN;
    const pauseAt = from + STEP_BYTES;
    let start = from;
    let at = from + 1;
    for (;;) {
      let code = bytes[at] ?? 0;
      while (IN_SCALAR[code] === 1) {
        at += 1;
        code = bytes[at] ?? 0;
      }
      this.#scalars += 1;
      if (at - start > SHORT_NUMBER_BYTES) this.#textBytes += at - start;
      if (!(inList && code === COMMA && at < pauseAt && startsNumber(bytes[at + 1] ?? 0))) break;
      this.#values += 1;
      start = at + 1;
      at += 2;
    }
    return at;
  }
}

function startsNumber(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2d;
}

function afterSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (at - from < SPACE_BYTES_MAX) {
    const code = bytes[at] ?? 0;
    // Every space of JSON is at most 0x20, and no other character of its structure is.
    if (code > 0x20 || (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09)) return at;
    at += 1;
  }
  return at;
}

/** A name may be written with escapes (`mod\u0065l`). Without them its bytes are its text. */
export function decodeName(bytes: Buffer, start: number, end: number): string {
  const raw = bytes.toString('utf8', start + 1, end - 1);
  if (!raw.includes('\\')) return raw;
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    return raw;
  }
}

/** What may be built in memory in one go: a value takes about 100 ns, and other requests wait meanwhile. */
export const BUILT_VALUES_MAX = 100_000;

export function valuesIn(members: readonly MemberSpan[]): number {
  return members.reduce((sum, { values }) => sum + values, 0);
}
