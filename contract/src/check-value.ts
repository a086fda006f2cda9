import type { TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { Name } from './schema.ts';
import { propertiesOf, requiredOf, type Shape, shapeOf } from './schema-shape.ts';
import { counted, countWords } from './words/count.ts';

export interface Issue {
  /** Where, as written in code: `bindings[0].target_type`. Empty for the body itself. */
  readonly path: string;
  readonly message: string;
}

export type Validation = { readonly ok: true } | { readonly ok: false; readonly issues: readonly Issue[] };

/** Bounds the response to a body with very many faults. */
const issuesMax = 20;

/** Checks without compiling: the console's content security policy forbids generated code. */
export function checkValue(schema: TSchema, value: unknown): Validation {
  return Check(schema, value) ? { ok: true } : { ok: false, issues: issuesOf(schema, value) };
}

/** Describes what is wrong with an invalid value, naming the field and the fix. */
export function issuesOf(schema: TSchema, value: unknown): readonly Issue[] {
  const issues: Issue[] = [];
  explain(schema, value, '', issues);
  // The walk covers every keyword in use. Without this fallback, a value that only a new keyword rejects would pass.
  if (issues.length === 0) issues.push({ path: '', message: 'the value does not match the schema' });
  return issues.slice(0, issuesMax);
}

function explain(schema: TSchema, value: unknown, path: string, issues: Issue[]): void {
  if (issues.length >= issuesMax || Check(schema, value)) return;
  const shape = shapeOf(schema);
  if (shape.anyOf !== undefined) explainUnion(shape.anyOf, value, path, issues);
  else if (isObject(value) && shape.type === 'object') explainObject(schema, value, path, issues);
  else if (Array.isArray(value) && shape.type === 'array') explainArray(shape, value, path, issues);
  else issues.push({ path, message: `${nameOf(path)} must be ${expectation(shape, value)}` });
}

/** Explains the branch of the value's own type; when there is none, lists all branches. */
function explainUnion(branches: readonly TSchema[], value: unknown, path: string, issues: Issue[]): void {
  const fitting = branches.find((branch) => shapeOf(branch).type === kindOfValue(value));
  if (fitting !== undefined && (isObject(value) || Array.isArray(value))) {
    explain(fitting, value, path, issues);
  } else {
    const allowed = branches.map((branch) => expectation(shapeOf(branch), value)).join(' or ');
    issues.push({ path, message: `${nameOf(path)} must be ${allowed}` });
  }
}

function explainObject(schema: TSchema, value: Record<string, unknown>, path: string, issues: Issue[]): void {
  const properties = propertiesOf(schema);
  const join = (key: string) => (path === '' ? key : `${path}.${key}`);
  for (const key of requiredOf(schema)) {
    if (value[key] === undefined) issues.push({ path: join(key), message: `${join(key)} is required` });
  }
  for (const [key, property] of Object.entries(properties)) {
    if (value[key] !== undefined) explain(property, value[key], join(key), issues);
  }
  if (shapeOf(schema).additionalProperties !== false) return;
  const known = Object.keys(properties);
  for (const key of Object.keys(value).filter((name) => !Object.hasOwn(properties, name))) {
    const shown = join(key.slice(0, 100));
    issues.push({ path: shown, message: `unknown field ${shown}; known fields are ${known.join(', ')}` });
  }
}

function explainArray(shape: Shape, value: unknown[], path: string, issues: Issue[]): void {
  const { items, minItems, maxItems } = shape;
  if (minItems !== undefined && value.length < minItems) {
    issues.push({ path, message: `${nameOf(path)} must have at least ${counted(minItems, 'item')}` });
  }
  if (maxItems !== undefined && value.length > maxItems) {
    issues.push({ path, message: `${nameOf(path)} must have at most ${counted(maxItems, 'item')}` });
    return;
  }
  if (items === undefined) return;
  for (const [index, item] of value.entries()) {
    if (issues.length >= issuesMax) return;
    explain(items, item, `${path}[${index}]`, issues);
  }
}

/** The words that follow "must be". */
function expectation(shape: Shape, value: unknown): string {
  if (shape.enum !== undefined) return choice(shape.enum);
  if (shape.const !== undefined) return JSON.stringify(shape.const);
  if (shape.type === 'string') return expectedString(shape);
  if (shape.type === 'integer' || shape.type === 'number') return expectedNumber(shape, value);
  if (shape.type === 'array') return 'an array';
  if (shape.type === 'object') return 'an object';
  if (shape.type === 'boolean') return 'true or false';
  if (shape.type === 'null') return 'null';
  return 'a valid value';
}

function choice(values: readonly unknown[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.join(', ')}`;
}

function expectedString(shape: Shape): string {
  if (shape.format === 'date-time') return 'a timestamp such as 2026-01-31T12:00:00.000Z';
  if (shape.format === 'email') return 'an email address';
  if (shape.pattern?.startsWith('^https?') === true) return 'an http or https URL';
  if (shape.pattern === shapeOf(Name).pattern)
    return `a string of 1 to ${countWords(shape.maxLength ?? 0)} characters that begins with a visible one and has no white space at its end`;
  if (shape.pattern !== undefined) return `a string that matches ${shape.pattern}`;
  const { minLength, maxLength } = shape;
  if (minLength === 1 && maxLength === undefined) return 'a non-empty string';
  if (minLength !== undefined && maxLength !== undefined) {
    return `a string of ${countWords(minLength)} to ${countWords(maxLength)} characters`;
  }
  return maxLength === undefined ? 'a string' : `a string of at most ${counted(maxLength, 'character')}`;
}

function expectedNumber(shape: Shape, value: unknown): string {
  const noun = shape.type === 'integer' ? 'an integer' : 'a number';
  const { minimum, maximum } = shape;
  // The largest integer that JSON holds exactly is only of interest to who sent a larger one.
  const isLarger = typeof value === 'number' && maximum !== undefined && value > maximum;
  const bounded = maximum !== undefined && (maximum < Number.MAX_SAFE_INTEGER || isLarger);
  if (minimum !== undefined && bounded) {
    return `${noun} from ${countWords(minimum)} to ${countWords(maximum)}`;
  }
  return minimum === undefined ? noun : `${noun} of ${countWords(minimum)} or more`;
}

function nameOf(path: string): string {
  return path === '' ? 'the body' : path;
}

function kindOfValue(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
