/**
 * Finds where the members of a JSON object's top level lie in the text, without building the values: what
 * is needed to replace one value and leave every other byte as it was sent.
 *
 * The text is decoded as Latin-1, so one character is one byte and positions are byte offsets; JSON's
 * structure is ASCII, so nothing is lost. Nested values are stepped over, not checked: the scan accepts
 * everything `JSON.parse` accepts, and some that it does not, so callers that need validity parse as well.
 */

export interface MemberSpan {
  readonly name: string;
  /** The value's first byte. */
  readonly start: number;
  /** One past the value's last byte. */
  readonly end: number;
}

export interface ObjectSpans {
  /** Only the names asked for, in the order of the text, duplicates included. */
  readonly members: readonly MemberSpan[];
  /** Position of the closing brace. */
  readonly closing: number;
  readonly empty: boolean;
}

export type ScanProblem = 'not_an_object' | 'too_deep' | 'broken';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const BROKEN = -1;
const TOO_DEEP = -2;

export function scanObject(
  text: string,
  wanted: ReadonlySet<string>,
  depthMax: number,
): ObjectSpans | ScanProblem {
  let at = skipSpace(text, 0);
  if (text.charCodeAt(at) !== OPEN_BRACE) return 'not_an_object';
  const members: MemberSpan[] = [];
  at = skipSpace(text, at + 1);
  if (text.charCodeAt(at) === CLOSE_BRACE) return finish(text, at, members, true);

  // Each turn consumes at least a name and a value, so the text's length bounds the loop.
  for (;;) {
    if (text.charCodeAt(at) !== QUOTE) return 'broken';
    const nameEnd = skipString(text, at);
    if (nameEnd < 0) return 'broken';
    const name = decodeName(text, at, nameEnd);
    at = skipSpace(text, nameEnd);
    if (text.charCodeAt(at) !== COLON) return 'broken';
    const start = skipSpace(text, at + 1);
    const end = skipValue(text, start, depthMax - 1);
    if (end < 0) return end === TOO_DEEP ? 'too_deep' : 'broken';
    if (name !== null && wanted.has(name)) members.push({ name, start, end });
    at = skipSpace(text, end);
    const next = text.charCodeAt(at);
    if (next === CLOSE_BRACE) return finish(text, at, members, false);
    if (next !== COMMA) return 'broken';
    at = skipSpace(text, at + 1);
  }
}

function finish(
  text: string,
  closing: number,
  members: readonly MemberSpan[],
  empty: boolean,
): ObjectSpans | ScanProblem {
  return skipSpace(text, closing + 1) === text.length ? { members, closing, empty } : 'broken';
}

/** A name may be written with escapes (`mod\u0065l`) and still mean the member. */
function decodeName(text: string, start: number, end: number): string | null {
  const raw = text.slice(start + 1, end - 1);
  if (!raw.includes('\\')) return raw;
  try {
    return JSON.parse(text.slice(start, end)) as string;
  } catch {
    return null;
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at += 1;
  }
}

/** From the opening quote to one past the closing one, or BROKEN. */
function skipString(text: string, from: number): number {
  let at = from + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return BROKEN;
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

function skipValue(text: string, from: number, depthMax: number): number {
  const first = text.charCodeAt(from);
  if (first === QUOTE) return skipString(text, from);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipNested(text, from, depthMax);
  return skipScalar(text, from);
}

function skipNested(text: string, from: number, depthMax: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = skipString(text, at);
      if (at < 0) return BROKEN;
      continue;
    }
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      if (depth > depthMax) return TOO_DEEP;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
    at += 1;
  }
  return BROKEN;
}

function skipScalar(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || code <= 0x20) break;
    at += 1;
  }
  return at === from ? BROKEN : at;
}
