import Type, { type TProperties, type TSchema } from 'typebox';
import { optional, text } from './schema.ts';

/** Bounds what one file can carry, section by section. */
const ITEMS_MAX = 10_000;

/** A section of the configuration file: a list that may be left out. */
export function itemsOf<S extends TSchema>(item: S) {
  return optional(Type.Array(item, { maxItems: ITEMS_MAX }));
}

/** An item has the fields of the create body, except that it names other resources by slug instead of id. */
export function without<P extends TProperties, K extends keyof P & string>(properties: P, ...names: K[]) {
  const dropped: readonly string[] = names;
  const kept = Object.entries(properties).filter(([name]) => !dropped.includes(name));
  return Object.fromEntries(kept) as Omit<P, K>;
}

export function slugOf(what: string) {
  return text({ minLength: 1, maxLength: 100, description: `The slug of ${what}.` });
}

export const ItemSlug = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^[^/\\s]+$',
  description:
    'Identifies the item from one apply to the next. If omitted, Relay derives it from the name; set it before you rename the item.',
});

export const SecretRef = Type.String({
  maxLength: 500,
  pattern: '^(env:[A-Za-z_][A-Za-z0-9_]*|file:[^\\s].*)$',
  description:
    'Where to read the secret when the file is applied: `env:NAME` or `file:PATH`. The file never holds the secret itself.',
});
