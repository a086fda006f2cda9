import type { YamlText } from '@relay/contract/config-text';
import { isObject } from '../../kit/values.ts';

/** A setting that was not imported unchanged. */
export interface Remark {
  /** `not_imported`: the file lacks it. `changed`: the file has a different value. */
  readonly kind: 'not_imported' | 'changed';
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly reason: string;
}

/**
 * LiteLLM's settings. Reading a setting marks it as taken; settings that were never taken are reported in the
 * end, so that none is lost.
 */
export interface Source {
  /** The value at a path; marks it and everything below as taken. */
  take(path: string): unknown;
  /** The same for text. Resolves variables, because Relay supports them for secrets only. */
  takeText(path: string): string | undefined;
  takeNumber(path: string): number | undefined;
  /** The value, without marking it as taken. */
  look(path: string): unknown;
  keys(path: string): string[];
  length(path: string): number;
  remark(kind: Remark['kind'], path: string, reason: string): void;
  remarks(): readonly Remark[];
  /** Reports the settings that were not taken, with reasons. */
  close(reasonOf: (path: string) => string): void;
}

const VARIABLE = /^os\.environ\/(.+)$/;

/** The variable a value refers to, in LiteLLM's notation. */
export function variableIn(value: unknown): string | undefined {
  return typeof value === 'string' ? VARIABLE.exec(value.trim())?.[1] : undefined;
}

export function createSource(yaml: YamlText, variable: (name: string) => string | undefined): Source {
  const taken = new Set<string>();
  /** The parents of taken settings. */
  const opened = new Set<string>();
  const found: Remark[] = [];

  const look = (path: string) => valueAt(yaml.value, path);
  function mark(path: string): void {
    taken.add(path);
    for (const { index } of path.matchAll(/[.[]/g)) opened.add(path.slice(0, index));
  }
  function take(path: string): unknown {
    mark(path);
    return look(path) ?? undefined;
  }
  function remark(kind: Remark['kind'], path: string, reason: string): void {
    // A changed setting is already marked as taken, and settings below it may still be read.
    if (kind === 'not_imported') mark(path);
    found.push({ kind, path, ...yaml.positionOf(path, 'key'), reason });
  }
  /** Uses the variable's present value; later changes do not reach the file. */
  function resolved(path: string): unknown {
    const value = take(path);
    const name = variableIn(value);
    if (name === undefined) return value;
    const given = variable(name);
    if (given === undefined || given === '') {
      remark('not_imported', path, `It refers to the variable ${name}, which is not set here.`);
      return undefined;
    }
    remark(
      'changed',
      path,
      `The current value of ${name} is written into the file; only secrets can refer to variables.`,
    );
    return given;
  }

  function closeAt(path: string, value: unknown, reasonOf: (path: string) => string): void {
    if (taken.has(path)) return;
    if (path !== '' && !opened.has(path)) remark('not_imported', path, reasonOf(path));
    else for (const [child, inner] of childrenOf(path, value)) closeAt(child, inner, reasonOf);
  }

  return {
    take,
    takeText(path) {
      const value = resolved(path);
      return value === undefined ? undefined : String(value);
    },
    takeNumber(path) {
      const value = resolved(path);
      if (value === undefined) return undefined;
      const number = numberOf(value);
      if (number === undefined) remark('not_imported', path, 'Relay can’t read it as a number.');
      return number;
    },
    look,
    keys: (path) =>
      childrenOf(path, look(path)).map(([child]) => child.slice(path.length).replace(/^\./, '')),
    length: (path) => {
      const value = look(path);
      return Array.isArray(value) ? value.length : 0;
    },
    remark,
    remarks: () => found.toSorted((a, b) => a.line - b.line || a.column - b.column),
    close: (reasonOf) => closeAt('', yaml.value, reasonOf),
  };
}

function valueAt(root: unknown, path: string): unknown {
  let value = root;
  for (const [, name, index] of path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
    if (isObject(value)) value = value[name ?? index ?? ''];
    else if (Array.isArray(value)) value = value[Number(index ?? name)];
    else return undefined;
  }
  return value;
}

function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined;
}

function childrenOf(path: string, value: unknown): [string, unknown][] {
  if (Array.isArray(value)) return value.map((item, index) => [`${path}[${index}]`, item]);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).map(([name, item]) => [path === '' ? name : `${path}.${name}`, item]);
}
