/** What a value has to be: answers everything that is wrong with it, each with where it stands. */
export type Shape = (value: unknown, path: string) => readonly string[];

export type Fields = Readonly<Record<string, Shape>>;

function matching(what: string, test: (value: unknown) => boolean): Shape {
  return (value, path) => (test(value) ? [] : [`${path} is ${shown(value)}, not ${what}`]);
}

function text(pattern: RegExp, what: string): Shape {
  return matching(what, (value) => typeof value === 'string' && pattern.test(value));
}

export const anyText = matching('text', (value) => typeof value === 'string');
export const anything: Shape = (value, path) => (value === undefined ? [`${path} is missing`] : []);
export const flag = matching('true or false', (value) => typeof value === 'boolean');
export const integer = matching('an integer', (value) => Number.isSafeInteger(value));
export const number = matching('a number', (value) => Number.isFinite(value));
/** UUIDv7, as every id is. */
export const id = text(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/, 'an id');
export const slug = text(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'a slug');
export const url = text(/^https?:\/\//, 'a URL');
export const email = text(/^\S+@\S+$/, 'an e-mail address');
/** RFC 3339 in UTC, with milliseconds. */
export const time = text(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'a time in UTC with milliseconds');

export function oneOf(...values: readonly (string | number | boolean)[]): Shape {
  return matching(`one of ${values.join(', ')}`, (value) => values.includes(value as string));
}

export function nullable(shape: Shape): Shape {
  return (value, path) => (value === null ? [] : shape(value, path));
}

export function listOf(shape: Shape): Shape {
  return (value, path) =>
    Array.isArray(value)
      ? value.flatMap((item, index) => shape(item, `${path}[${index}]`))
      : [`${path} is ${shown(value)}, not a list`];
}

/** Exactly these keys: one that is missing is as wrong as one too many. */
export function exactly(fields: Fields): Shape {
  return openTo({}, fields);
}

/** Exactly these keys, and perhaps some of those that may be left out; with `any`, whatever else. */
export function openTo(maybe: Fields, fields: Fields, others: 'any' | 'none' = 'none'): Shape {
  return (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return [`${path} is ${shown(value)}, not an object`];
    const entries = new Map(Object.entries(value));
    const missing = Object.keys(fields).filter((key) => !entries.has(key));
    const known: Fields = { ...maybe, ...fields };
    return [
      ...missing.map((key) => `${path}.${key} is missing`),
      ...[...entries].flatMap(([key, item]) => {
        const shape = Object.hasOwn(known, key) ? known[key] : undefined;
        if (shape === undefined) return others === 'any' ? [] : [`${path}.${key} is one key too many`];
        return shape(item, `${path}.${key}`);
      }),
    ];
  };
}

/** Any keys, each with a value of this shape. */
export function recordOf(shape: Shape): Shape {
  return (value, path) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value).flatMap(([key, item]) => shape(item, `${path}.${key}`))
      : [`${path} is ${shown(value)}, not an object`];
}

/** 204: not a byte. */
export const nothing: Shape = (value, path) =>
  value === '' ? [] : [`${path} is ${shown(value)}, not nothing`];

function shown(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value).slice(0, 80);
}
