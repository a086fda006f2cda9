/** Lines and columns are counted from 1, as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
  /** From the beginning of the text, from 0. */
  readonly offset: number;
}

export type JsonFault = 'empty' | 'character' | 'end' | 'text' | 'number' | 'twice' | 'deep';

export interface JsonText {
  /** Undefined when the text is no JSON; `fault` then says why. */
  readonly value: unknown;
  readonly fault: (Position & { readonly kind: JsonFault; readonly key: string }) | null;
  /** Where a path such as `endpoints[3].provider` stands, or what is nearest above it when there is no such thing. */
  positionOf(path: string, of?: 'key' | 'value'): Position;
}

const DEPTH_MAX = 50;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const TEXT = /"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/uy;
const SPACE = /[ \t\r\n]*/y;
const WORDS = { true: true, false: false, null: null } as const;

class Fault extends Error {
  readonly kind: JsonFault;
  readonly offset: number;
  readonly key: string;
  constructor(kind: JsonFault, offset: number, key = '') {
    super(kind);
    this.kind = kind;
    this.offset = offset;
    this.key = key;
  }
}

/**
 * JSON with the position of everything in it: the browser's own reader tells where a text ends to be JSON, if at all, but
 * not where a field stands that the server finds fault with. A key that stands twice is a fault, since one of them would be lost.
 */
export function readJson(text: string): JsonText {
  const values = new Map<string, number>();
  const keys = new Map<string, number>();
  const at = (offset: number): Position => {
    const before = text.slice(0, offset);
    const lineStart = before.lastIndexOf('\n') + 1;
    return { line: before.split('\n').length, column: offset - lineStart + 1, offset };
  };
  const positionOf = (path: string, of: 'key' | 'value' = 'value'): Position => {
    for (let rest = path; rest !== ''; rest = rest.replace(/(?:\.?[^.[]+|\[\d+\])$/, '')) {
      const offset = (rest === path && of === 'key' ? keys.get(rest) : undefined) ?? values.get(rest);
      if (offset !== undefined) return at(offset);
    }
    return at(0);
  };
  try {
    return { value: readDocument(text, values, keys), fault: null, positionOf };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const { kind, offset, key } = error;
    return { value: undefined, fault: { ...at(offset), kind, key }, positionOf };
  }
}

function readDocument(text: string, values: Map<string, number>, keys: Map<string, number>): unknown {
  let next = 0;

  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = next;
    const found = pattern.exec(text)?.[0];
    if (found === undefined) return null;
    next += found.length;
    return found;
  };
  const skip = () => void take(SPACE);
  const refuse = (): never => {
    throw new Fault(next >= text.length ? 'end' : 'character', Math.min(next, text.length));
  };
  const takeText = (): string => {
    const found = take(TEXT);
    if (found === null) throw new Fault('text', next);
    return JSON.parse(found) as string;
  };
  /** What stands between brackets, with commas between; `readItem` reads one. */
  const readItems = (close: string, readItem: (index: number) => void) => {
    next += 1;
    skip();
    if (text[next] === close) {
      next += 1;
      return;
    }
    for (let index = 0; ; index += 1) {
      readItem(index);
      skip();
      const mark = text[next];
      if (mark !== ',' && mark !== close) refuse();
      next += 1;
      if (mark === close) return;
      skip();
    }
  };
  const readObject = (path: string, depth: number): Record<string, unknown> => {
    const entries = new Map<string, unknown>();
    readItems('}', () => {
      const start = next;
      if (text[next] !== '"') refuse();
      const key = takeText();
      if (entries.has(key)) throw new Fault('twice', start, key);
      skip();
      if (text[next] !== ':') refuse();
      next += 1;
      skip();
      const inner = path === '' ? key : `${path}.${key}`;
      keys.set(inner, start);
      entries.set(key, readValue(inner, depth));
    });
    // A key may be called `__proto__`; here it is a key like any other.
    return Object.fromEntries(entries);
  };
  const readArray = (path: string, depth: number): unknown[] => {
    const items: unknown[] = [];
    readItems(']', (index) => items.push(readValue(`${path}[${index}]`, depth)));
    return items;
  };
  const readWord = (): boolean | null => {
    const word = (['true', 'false', 'null'] as const).find((each) => text.startsWith(each, next));
    if (word === undefined) return refuse();
    next += word.length;
    return WORDS[word];
  };
  const readValue = (path: string, depth: number): unknown => {
    if (depth > DEPTH_MAX) throw new Fault('deep', next);
    values.set(path, next);
    const first = text[next];
    if (first === '{') return readObject(path, depth + 1);
    if (first === '[') return readArray(path, depth + 1);
    if (first === '"') return takeText();
    if (first === undefined || !/[-\d]/.test(first)) return readWord();
    const start = next;
    const number = take(NUMBER);
    if (number === null || /[\w.+-]/.test(text[next] ?? '')) throw new Fault('number', start);
    return Number(number);
  };

  skip();
  if (next === text.length) throw new Fault('empty', 0);
  const value = readValue('', 0);
  skip();
  if (next < text.length) refuse();
  return value;
}
