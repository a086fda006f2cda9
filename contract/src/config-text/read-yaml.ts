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
  /** Such as `endpoints[3].provider`; empty for the document itself. */
  readonly path: string;
  readonly message: string;
}

export interface YamlText {
  /** Undefined when the text is not valid YAML; `faults` has the reason. */
  readonly value: unknown;
  readonly faults: readonly Finding[];
  /** The position of a path, or of its nearest existing parent. */
  positionOf(path: string, of?: 'key' | 'value'): Position;
}

/** Nested aliases expand exponentially. */
const ALIASES_MAX = 1_000;

/** Parses one YAML or JSON document and keeps the position of every node. */
export function readYaml(text: string): YamlText {
  const lines = new LineCounter();
  // `prettyErrors` would quote the line, which may hold a secret.
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
      message: `the file has more than ${ALIASES_MAX} aliases. Write their values out instead.`,
    });
    return undefined;
  }
}

/** Never quotes an alias: an unquoted secret may begin with a star. */
function wordsOf({ code, message }: YAMLError): string {
  if (code === 'BAD_ALIAS')
    return 'is not valid YAML: an alias has no anchor. Quote a value that begins with *';
  return `is not valid YAML: ${message.replace(/\.?$/, '')}`;
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

/** Keys may contain dots, so the longest matching key wins. */
function longest(pairs: readonly Pair[]): Pair | undefined {
  return pairs.toSorted((a, b) => textOf(b.key).length - textOf(a.key).length)[0];
}

function startsWithKey(path: string, key: string): boolean {
  return path.startsWith(key) && ['', '.', '['].includes(path.charAt(key.length));
}

function textOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key);
}
