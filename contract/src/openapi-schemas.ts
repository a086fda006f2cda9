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

/** Collects titled schemas as named components, so that each is written once and referenced elsewhere. */
export function createComponents(): SchemaComponents {
  const named = new Map<string, JsonObject>();

  const convertNamed = (title: string, schema: TSchema): JsonObject => {
    const body = toJson(schema, convert) as JsonObject;
    const earlier = named.get(title);
    if (earlier !== undefined && JSON.stringify(earlier) !== JSON.stringify(body)) {
      throw new Error(`Two different schemas are titled ${title}.`);
    }
    named.set(title, body);
    return { $ref: `#/components/schemas/${title}` };
  };

  const convert = (schema: TSchema): JsonObject => {
    const { title } = shapeOf(schema);
    return title === undefined ? (toJson(schema, convert) as JsonObject) : convertNamed(title, schema);
  };

  return {
    convert,
    schemas: () => Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function toJson(value: unknown, convert: (schema: TSchema) => JsonObject): Json {
  if (Array.isArray(value)) return value.map((item) => nested(item, convert));
  if (typeof value !== 'object' || value === null) return value as Json;
  // TypeBox marks its schemas with keys that begin with a tilde; they are no JSON Schema.
  const entries = Object.entries(value).filter(([key]) => !key.startsWith('~'));
  return Object.fromEntries(entries.map(([key, item]) => [key, nested(item, convert)]));
}

function nested(value: unknown, convert: (schema: TSchema) => JsonObject): Json {
  const titled =
    typeof value === 'object' && value !== null && 'title' in value && typeof value.title === 'string';
  return titled ? convert(value as TSchema) : toJson(value, convert);
}
