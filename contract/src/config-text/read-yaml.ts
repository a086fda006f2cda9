import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type YAMLError,
} from 'yaml';

/** Lines and columns are counted from 1, as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Finding extends Position {
  /** Where in the structure, such as `endpoints[3].provider`; empty for the whole. */
  readonly path: string;
  readonly message: string;
}

export interface YamlText {
  /** Undefined when the text is no YAML; `faults` then says why. */
  readonly value: unknown;
  readonly faults: readonly Finding[];
  /** Where a path stands in the text, or what is nearest above it when there is no such thing. */
  positionOf(path: string, of?: 'key' | 'value'): Position;
}

/** What an alias stands for may be large, and aliases of aliases grow without bound. */
const ALIASES_MAX = 1_000;

/** One YAML document (JSON is one too) with the position of everything in it. */
export function readYaml(text: string): YamlText {
  const lines = new LineCounter();
  // The text of an error is shown; with `prettyErrors` it would quote the line, and a secret with it.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true });
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const faults = document.errors.map((error) => ({ ...at(error.pos[0]), path: '', message: wordsOf(error) }));
  const value = faults.length > 0 ? undefined : plainValue(document, faults, at(0));
  return {
    value,
    faults,
    positionOf(path, of = 'value') {
      const found = find(document, document.contents, path);
      const node = of === 'key' ? (found.key ?? found.node) : found.node;
      return at(node?.range?.[0] ?? found.key?.range?.[0] ?? 0);
    },
  };
}

function plainValue(document: Document, faults: Finding[], start: Position): unknown {
  try {
    return document.toJS({ maxAliasCount: ALIASES_MAX });
  } catch {
    faults.push({
      ...start,
      path: '',
      message: `there are more than ${ALIASES_MAX} aliases. Write them out.`,
    });
    return undefined;
  }
}

/** An alias may be a secret that begins with a star, so its name is not repeated. */
function wordsOf({ code, message }: YAMLError): string {
  if (code === 'BAD_ALIAS')
    return 'is no valid YAML: an alias has no anchor. Quote a value that begins with *';
  return `is no valid YAML: ${message.replace(/\.?$/, '')}`;
}

interface Found {
  readonly key: Node | null;
  readonly node: Node | null;
}

function find(document: Document, start: unknown, path: string): Found {
  let found: Found = { key: null, node: isNode(start) ? start : null };
  let rest = path;
  while (rest !== '') {
    const next = step(document, found.node, rest);
    if (next === null) return found;
    [found, rest] = next;
  }
  return found;
}

function step(document: Document, node: Node | null, rest: string): [Found, string] | null {
  const target = isAlias(node) ? node.resolve(document) : node;
  if (isSeq(target)) {
    const [whole, index] = /^\[(\d+)\]/.exec(rest) ?? [];
    const item = target.items[Number(index)];
    return whole === undefined || !isNode(item)
      ? null
      : [{ key: null, node: item }, rest.slice(whole.length)];
  }
  if (!isMap(target)) return null;
  const name = rest.replace(/^\./, '');
  const pair = longest(target.items.filter(({ key }) => startsWithKey(name, textOf(key))));
  if (pair === undefined) return null;
  const key = isNode(pair.key) ? pair.key : null;
  const value = isNode(pair.value) ? pair.value : null;
  return [{ key, node: value }, name.slice(textOf(pair.key).length)];
}

/** A key may hold dots itself; the longest one that fits is meant. */
function longest(pairs: readonly Pair[]): Pair | undefined {
  return pairs.toSorted((a, b) => textOf(b.key).length - textOf(a.key).length)[0];
}

function startsWithKey(path: string, key: string): boolean {
  return path.startsWith(key) && ['', '.', '['].includes(path.charAt(key.length));
}

function textOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key);
}
