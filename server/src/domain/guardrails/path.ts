import { isObject } from '../../kit/json-value.ts';

/**
 * The part of JSONPath (RFC 9535) that response rules use: `$`, `.name`, `['name']`, `[0]`, `[-1]`, `.*` and `[*]`. There are no
 * filters, slices or descendants: the path selects values, and the rule's operator tests them.
 */
export type PathStep = { readonly name: string } | { readonly index: number } | 'every';
export type JsonPath = readonly PathStep[];

const STEPS_MAX = 32;

const NAME = /\.([A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)/y;
const WILDCARD = /\.\*|\[\s*\*\s*\]/y;
const INDEX = /\[\s*(-?(?:0|[1-9]\d{0,8}))\s*\]/y;
const QUOTED = /\[\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*\]/y;

/** The steps of the path, or a description of the error that continues a sentence starting with "path". */
export function parseJsonPath(text: string): JsonPath | string {
  if (!text.startsWith('$')) return 'must start with $, which stands for the whole response';
  const steps: PathStep[] = [];
  let position = 1;
  while (position < text.length) {
    const found = stepAt(text, position);
    if (found === null) {
      const rest = text.slice(position, position + 20);
      return `is not valid at "${rest}"; use only $, .name, ['name'], [0], [*] and .*`;
    }
    steps.push(found.step);
    position = found.end;
    if (steps.length > STEPS_MAX) return `must have at most ${STEPS_MAX} steps`;
  }
  return steps;
}

/** Every value that the path selects, in document order. */
export function selectValues(path: JsonPath, document: unknown): readonly unknown[] {
  let values: readonly unknown[] = [document];
  for (const step of path) values = values.flatMap((value) => stepFrom(step, value));
  return values;
}

function stepAt(text: string, position: number): { step: PathStep; end: number } | null {
  const every = match(WILDCARD, text, position);
  if (every !== null) return { step: 'every', end: position + every[0].length };
  const plain = match(NAME, text, position);
  if (plain !== null) return { step: { name: plain[1] ?? '' }, end: position + plain[0].length };
  const index = match(INDEX, text, position);
  if (index !== null) return { step: { index: Number(index[1]) }, end: position + index[0].length };
  const quoted = match(QUOTED, text, position);
  if (quoted === null) return null;
  const name = unquoted(quoted[1], quoted[2]);
  return name === null ? null : { step: { name }, end: position + quoted[0].length };
}

function match(pattern: RegExp, text: string, position: number): RegExpExecArray | null {
  pattern.lastIndex = position;
  return pattern.exec(text);
}

/** Escapes are those of JSON; each kind of quote must be escaped inside its own. */
function unquoted(single: string | undefined, double: string | undefined): string | null {
  const inner =
    double ??
    (single ?? '').replace(/\\(.)|"/gs, (written, escaped?: string) => {
      if (escaped === undefined) return '\\"';
      return escaped === "'" ? "'" : written;
    });
  try {
    return String(JSON.parse(`"${inner}"`));
  } catch {
    return null;
  }
}

function stepFrom(step: PathStep, value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  if (step === 'every') return Array.isArray(value) ? value : Object.values(value);
  if ('index' in step) {
    const at = Array.isArray(value) && step.index < 0 ? value.length + step.index : step.index;
    return Array.isArray(value) && at >= 0 && at < value.length ? [value[at]] : [];
  }
  return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
}
