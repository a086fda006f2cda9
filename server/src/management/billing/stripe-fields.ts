import { invalidField } from '../resources/refusals.ts';

/**
 * Reads a Stripe object field by field. Its shape depends on the API version of the webhook, so every field is
 * checked. The error names an unexpected field, and Stripe's webhook log shows it.
 */
export interface Fields {
  text(name: string): string;
  maybeText(name: string): string | null;
  integer(name: string): number;
  /** A Stripe time in seconds, as an ISO timestamp. */
  time(name: string): string;
  maybeTime(name: string): string | null;
  id(name: string): string;
  /** The id of a referenced object. Stripe sends either the id or the whole object. */
  maybeId(name: string): string | null;
  /** The nested object in a field; undefined when there is none. */
  inner(name: string): Fields | undefined;
  list(name: string): Fields[];
}

const TEXT_CHARACTERS_MAX = 2_000;
const ID_CHARACTERS_MAX = 255;

export function fieldsOf(object: unknown, path: string): Fields {
  if (!isObject(object)) throw unreadable(path, 'an object');
  const value: Readonly<Record<string, unknown>> = object;
  const at = (name: string) => `${path}.${name}`;

  function maybeText(name: string): string | null {
    const found = value[name] ?? null;
    if (found === null) return null;
    if (typeof found !== 'string' || found.length > TEXT_CHARACTERS_MAX || found.includes('\0'))
      throw unreadable(at(name), 'text');
    return found;
  }
  function integer(name: string): number {
    const found = value[name];
    if (typeof found !== 'number' || !Number.isSafeInteger(found)) throw unreadable(at(name), 'an integer');
    return found;
  }
  function maybeTime(name: string): string | null {
    if ((value[name] ?? null) === null) return null;
    const date = new Date(integer(name) * 1_000);
    if (Number.isNaN(date.getTime())) throw unreadable(at(name), 'a time');
    return date.toISOString();
  }
  function maybeId(name: string): string | null {
    const found = value[name];
    if (isObject(found)) return fieldsOf(found, at(name)).id('id');
    const id = maybeText(name);
    if (id !== null && (id === '' || id.length > ID_CHARACTERS_MAX)) throw unreadable(at(name), 'an ID');
    return id;
  }
  const required = <T>(name: string, found: T | null, what: string): T => {
    if (found === null) throw unreadable(at(name), what);
    return found;
  };

  return {
    maybeText,
    integer,
    maybeTime,
    text: (name) => required(name, maybeText(name), 'text'),
    time: (name) => required(name, maybeTime(name), 'a time'),
    id: (name) => required(name, maybeId(name), 'an ID'),
    maybeId,
    inner: (name) => (isObject(value[name]) ? fieldsOf(value[name], at(name)) : undefined),
    list(name) {
      const found = value[name];
      if (!Array.isArray(found)) throw unreadable(at(name), 'a list');
      return found.map((each, index) => fieldsOf(each, `${at(name)}[${index}]`));
    },
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unreadable(path: string, expected: string) {
  return invalidField(
    path,
    `${path} in the event is not ${expected}. Set the webhook to a current API version.`,
  );
}
