/**
 * Reads one JSON object of any size while its text passes, and keeps an outline of it: the same members, with arrays emptied, long
 * strings replaced, and what lies deeper left out. Memory is bounded, whatever the object has.
 *
 * The outline is complete JSON at any time: it has the members that were complete so far. Text is Latin-1, one character for each byte,
 * because JSON's structure is ASCII.
 */

export interface OutlineRules {
  /** Members that are kept however much the object has before them, at the top level and inside each other. */
  readonly kept: ReadonlySet<string>;
  /** Members whose strings are text, at any level. */
  readonly text: ReadonlySet<string>;
}

/** A longer name is left out with its value. */
const STRING_BYTES_MAX = 128;
const LONG_STRING = '"..."';
const DEPTH_MAX = 5;
/** Bounds the members of an object that are not always kept. */
const ALLOWANCE_BYTES = 4 * 1024;
const OUTLINE_BYTES_MAX = 64 * 1024;
const FIRST_BYTES = 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';

const SPACE = /[^ \t\n\r]/g;
const SCALAR_END = /[,\]} \t\n\r]/g;
const SCALAR = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
/** Only a string with one of these may be malformed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings
const NEEDS_CHECK = /[\\\u0000-\u001f]/;

/** By character: 1 for quotes and brackets. */
const IN_STRUCTURE = new Uint8Array(256);
for (const each of '"[]{}') IN_STRUCTURE[each.charCodeAt(0)] = 1;

interface Level {
  /** True if every member on the path to the object is always kept. */
  readonly isKept: boolean;
  /** Shared with objects inside that are not always kept. */
  readonly allowance: { bytes: number };
  isEmpty: boolean;
}

type State =
  | 'start'
  | 'name'
  | 'in_name'
  | 'colon'
  | 'value'
  | 'in_string'
  | 'scalar'
  | 'after'
  | 'skip'
  | 'over';

export class JsonOutline {
  readonly #rules: OutlineRules;
  #state: State = 'start';
  #out = Buffer.alloc(0);
  #outBytes = 0;
  readonly #levels: Level[] = [];
  #closed = false;
  /** The beginning of the member that is being read. Null: the outline leaves it out. */
  #prefix: string | null = null;
  #memberIsKept = false;
  /** True if the next value belongs to a member with text. */
  #isText = false;
  #textBytes = 0;
  /** The string, name or scalar that is being read; empty once it is too long. */
  #token = '';
  #tokenBytes = 0;
  #inString = false;
  /** True if the piece ended after a backslash. */
  #escaped = false;
  /** Objects and arrays around, inside the value that is skipped. */
  #skipDepth = 0;
  /** A string of a skipped value ended, and what follows tells whether it was a name. */
  #mayBeName = false;

  constructor(rules: OutlineRules) {
    this.#rules = rules;
  }

  /** True if the object was read to its end. */
  get isComplete(): boolean {
    return this.#closed;
  }

  /** The bytes of text so far, including a string that was cut. */
  get textBytes(): number {
    return this.#inString && this.#isText ? this.#textBytes + this.#tokenBytes : this.#textBytes;
  }

  /** Returns the outline so far, as JSON. Null: the text is not an object. */
  json(): string | null {
    if (this.#outBytes === 0) return null;
    return this.#out.toString('latin1', 0, this.#outBytes) + '}'.repeat(this.#levels.length);
  }

  push(text: string): void {
    let at = 0;
    while (at < text.length && this.#state !== 'over') at = this.#step(text, at);
  }

  #step(text: string, from: number): number {
    const state = this.#state;
    if (state === 'in_name' || state === 'in_string') return this.#inToken(text, from);
    if (state === 'scalar') return this.#inScalar(text, from);
    if (state === 'skip') return this.#skip(text, from);
    const at = afterSpace(text, from);
    return at < text.length ? this.#structure(text, at, text.charCodeAt(at)) : at;
  }

  /** Reads one character of the structure. */
  #structure(text: string, at: number, code: number): number {
    switch (this.#state) {
      case 'start':
        if (this.#outBytes === 0 && text.startsWith(BYTE_ORDER_MARK, at)) return at + BYTE_ORDER_MARK.length;
        if (code !== OPEN_BRACE) return this.#stop(at);
        this.#memberIsKept = true;
        this.#prefix = '';
        this.#open();
        return at + 1;
      case 'name':
        if (code === CLOSE_BRACE) this.#close();
        else if (code === QUOTE) this.#beginString('in_name');
        else return this.#stop(at);
        return at + 1;
      case 'colon':
        if (code !== COLON) return this.#stop(at);
        this.#state = 'value';
        return at + 1;
      case 'after':
        if (code === COMMA) this.#state = 'name';
        else if (code === CLOSE_BRACE) this.#close();
        else return this.#stop(at);
        return at + 1;
      default:
        return this.#beginValue(at, code);
    }
  }

  #beginValue(at: number, code: number): number {
    if (code === QUOTE) {
      this.#beginString('in_string');
      return at + 1;
    }
    if (code === OPEN_BRACE && this.#prefix !== null && this.#levels.length < DEPTH_MAX) {
      this.#open();
      return at + 1;
    }
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      this.#write(code === OPEN_BRACE ? '{}' : '[]');
      this.#isText = false;
      this.#skipDepth = 1;
      this.#state = 'skip';
      return at + 1;
    }
    this.#token = '';
    this.#tokenBytes = 0;
    this.#state = 'scalar';
    return at;
  }

  #inToken(text: string, from: number): number {
    const at = this.#readString(text, from);
    if (this.#inString) return at;
    if (this.#state === 'in_name') {
      this.#beginMember();
      this.#state = 'colon';
      return at;
    }
    this.#countText();
    const isShort = this.#tokenBytes <= STRING_BYTES_MAX && decoded(this.#token) !== null;
    this.#write(isShort ? `"${this.#token}"` : LONG_STRING);
    this.#state = 'after';
    return at;
  }

  #inScalar(text: string, from: number): number {
    SCALAR_END.lastIndex = from;
    const ends = SCALAR_END.test(text);
    const end = ends ? SCALAR_END.lastIndex - 1 : text.length;
    this.#keepToken(text, from, end);
    if (!ends) return end;
    if (this.#tokenBytes <= STRING_BYTES_MAX && SCALAR.test(this.#token)) this.#write(this.#token);
    this.#state = 'after';
    return end;
  }

  /**
   * Passes over the inside of a value that is left out. Its structure is not checked; only its brackets are counted, and names are looked
   * at where text may follow.
   */
  #skip(text: string, from: number): number {
    let at = from;
    while (at < text.length) {
      if (this.#inString) {
        at = this.#readString(text, at);
        if (this.#inString) return at;
        this.#mayBeName = this.#rules.text.size > 0;
      }
      if (this.#mayBeName) {
        at = afterSpace(text, at);
        if (at === text.length) return at;
        this.#mayBeName = false;
        if (text.charCodeAt(at) === COLON) this.#isText = this.#rules.text.has(this.#token);
        else this.#countText();
      }
      while (at < text.length && IN_STRUCTURE[text.charCodeAt(at)] === 0) at += 1;
      if (at === text.length) return at;
      const code = text.charCodeAt(at);
      at += 1;
      if (code === QUOTE) {
        const end = this.#shortStringEnd(text, at);
        if (end > 0) at = end;
        else this.#beginString('skip');
        continue;
      }
      this.#isText = false;
      this.#skipDepth += code === OPEN_BRACE || code === OPEN_BRACKET ? 1 : -1;
      if (this.#skipDepth > 0) continue;
      this.#state = 'after';
      return at;
    }
    return at;
  }

  /** Returns the position past a string of a skipped value that is whole in its piece and has no escape, as most are; otherwise 0. */
  #shortStringEnd(text: string, from: number): number {
    const quote = text.indexOf('"', from);
    if (quote < 0 || quote + 1 >= text.length || text.charCodeAt(quote - 1) === BACKSLASH) return 0;
    if (text.charCodeAt(quote + 1) === COLON) {
      const { text: names } = this.#rules;
      this.#isText = names.size > 0 && quote - from <= STRING_BYTES_MAX && names.has(text.slice(from, quote));
      return quote + 1;
    }
    // Space may come before a colon.
    if (text.charCodeAt(quote + 1) <= 0x20) return 0;
    if (this.#isText) this.#textBytes += quote - from;
    this.#isText = false;
    return quote + 1;
  }

  #beginString(state: 'in_name' | 'in_string' | 'skip'): void {
    this.#state = state;
    this.#inString = true;
    this.#escaped = false;
    this.#token = '';
    this.#tokenBytes = 0;
  }

  /** Returns the position past the closing quote, or the end of the piece. */
  #readString(text: string, from: number): number {
    let at = this.#escaped ? from + 1 : from;
    this.#escaped = false;
    for (;;) {
      const quote = text.indexOf('"', at);
      const end = quote < 0 ? text.length : quote;
      let backslashes = 0;
      while (end - backslashes > at && text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
      const isEscaped = backslashes % 2 === 1;
      if (quote < 0) {
        this.#escaped = isEscaped;
        this.#keepToken(text, from, end);
        return end;
      }
      at = quote + 1;
      if (isEscaped) continue;
      this.#keepToken(text, from, quote);
      this.#inString = false;
      return at;
    }
  }

  #keepToken(text: string, from: number, end: number): void {
    this.#tokenBytes += end - from;
    this.#token = this.#tokenBytes <= STRING_BYTES_MAX ? this.#token + text.slice(from, end) : '';
  }

  #countText(): void {
    if (this.#isText) this.#textBytes += this.#tokenBytes;
    this.#isText = false;
  }

  #beginMember(): void {
    const level = this.#levels.at(-1);
    const name = this.#tokenBytes <= STRING_BYTES_MAX ? decoded(this.#token) : null;
    this.#prefix = null;
    this.#memberIsKept = false;
    this.#isText = name !== null && this.#rules.text.has(name);
    if (level === undefined || name === null) return;
    this.#memberIsKept = level.isKept && this.#rules.kept.has(name);
    const hasRoom = this.#memberIsKept || level.allowance.bytes > 0;
    if (hasRoom && this.#outBytes < OUTLINE_BYTES_MAX)
      this.#prefix = `${level.isEmpty ? '' : ','}"${this.#token}":`;
  }

  #open(): void {
    const parent = this.#levels.at(-1);
    this.#write('{');
    const isKept = this.#memberIsKept;
    const allowance = isKept || parent === undefined ? { bytes: ALLOWANCE_BYTES } : parent.allowance;
    this.#levels.push({ isKept, allowance, isEmpty: true });
    this.#state = 'name';
  }

  #close(): void {
    this.#levels.pop();
    this.#append('}');
    this.#closed = this.#levels.length === 0;
    this.#state = this.#closed ? 'over' : 'after';
  }

  /** Reads the value of the current member. */
  #write(value: string): void {
    if (this.#prefix === null) return;
    const level = this.#levels.at(-1);
    this.#append(this.#prefix + value);
    if (level === undefined) return;
    level.isEmpty = false;
    if (!this.#memberIsKept) level.allowance.bytes -= this.#prefix.length + value.length;
  }

  /** Copies into a buffer, because a slice of a string retains the whole string. */
  #append(json: string): void {
    const bytes = this.#outBytes + json.length;
    if (bytes > this.#out.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, 2 * bytes));
      this.#out.copy(grown, 0, 0, this.#outBytes);
      this.#out = grown;
    }
    this.#outBytes += this.#out.write(json, this.#outBytes, 'latin1');
  }

  /** Stops at text that is not JSON. The outline keeps the members before it. */
  #stop(at: number): number {
    this.#state = 'over';
    return at;
  }
}

function afterSpace(text: string, from: number): number {
  // Most values have no space before them.
  if (text.charCodeAt(from) > 0x20) return from;
  SPACE.lastIndex = from;
  return SPACE.test(text) ? SPACE.lastIndex - 1 : text.length;
}

/** Returns the text between the quotes. Null: it is not valid JSON. */
function decoded(raw: string): string | null {
  if (!NEEDS_CHECK.test(raw)) return raw;
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    return null;
  }
}
