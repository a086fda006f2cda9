import type { TSchema } from 'typebox';
import { propertiesOf, shapeOf } from './schema-shape.ts';

/** Marks a schema whose value is a secret that is shown once; part of the OpenAPI document. */
export const SHOWN_ONCE = 'x-shown-once';

/** Whether values of the schema hold a secret that is shown once. */
export function showsSecret(schema: TSchema | undefined): boolean {
  if (schema === undefined) return false;
  const { items, anyOf = [] } = shapeOf(schema);
  const parts = [...Object.values(propertiesOf(schema)), ...anyOf, ...(items === undefined ? [] : [items])];
  return SHOWN_ONCE in schema || parts.some(showsSecret);
}

/** Whether this value of the schema holds one: a field for it may be left out. */
export function holdsShownSecret(schema: TSchema, value: object): boolean {
  if (!showsSecret(schema)) return false;
  const names = Object.entries(propertiesOf(schema)).flatMap(([name, field]) =>
    showsSecret(field) ? [name] : [],
  );
  const given = new Map(Object.entries(value));
  // A secret outside of the fields counts as given.
  return names.length === 0 || names.some((name) => given.get(name) !== undefined);
}

/** The object without the fields that hold such a secret. */
export function withoutShownSecrets(schema: TSchema, value: unknown): Record<string, unknown> {
  const properties = propertiesOf(schema);
  return Object.fromEntries(Object.entries(value ?? {}).filter(([name]) => !showsSecret(properties[name])));
}
