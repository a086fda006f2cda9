import type { TSchema } from 'typebox';
import { shapeOf } from './schema-shape.ts';

export type Json = string | number | boolean | null | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

export interface SchemaComponents {
  /** The schema as JSON; a titled schema becomes a reference to its component. */
  convert(schema: TSchema): JsonObject;
  /** The components collected so far, by name. */
  schemas(): JsonObject;
}

/** Collects titled schemas as named components. Each is written once and referenced elsewhere. */
export function createComponents(): SchemaComponents {
  const named = new Map<string, JsonObject>();

  const convertNamed = (title: string, schema: TSchema): JsonObject => {
    const body = toJsonObject(schema, convert);
    const earlier = named.get(title);
    if (earlier !== undefined && JSON.stringify(earlier) !== JSON.stringify(body)) {
      throw new Error(`Two different schemas are titled ${title}.`);
    }
    named.set(title, body);
    return { $ref: `#/components/schemas/${title}` };
  };

  const convert = (schema: TSchema): JsonObject => {
    const { title } = shapeOf(schema);
    return title === undefined ? toJsonObject(schema, convert) : convertNamed(title, schema);
  };

  return {
    convert,
    schemas: () => Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function toJsonObject(value: object, convert: (schema: TSchema) => JsonObject): JsonObject {
  // TypeBox marks its schemas with keys that begin with a tilde. They are not part of JSON Schema.
  const entries = Object.entries(value).filter(([key]) => !key.startsWith('~'));
  return Object.fromEntries(entries.map(([key, item]) => [key, nested(item, convert)]));
}

function nested(value: unknown, convert: (schema: TSchema) => JsonObject): Json {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  if (Array.isArray(value)) return value.map((item) => nested(item, convert));
  if (typeof value !== 'object')
    throw new Error(`A schema holds a ${typeof value}, which JSON cannot express.`);
  const isTitled = 'title' in value && typeof value.title === 'string';
  return isTitled ? convert(value) : toJsonObject(value, convert);
}
