import type { TSchema } from 'typebox';
import { kindOf, propertiesOf } from './schema-shape.ts';

/**
 * A query string as the object its schema describes: integers and booleans are turned from text where
 * the text is plainly one, everything else stays text for the validator to name. Unknown parameters
 * are left out. Of a repeated parameter the last value counts.
 */
export function coerceQuery(schema: TSchema, search: URLSearchParams): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    const text = search.getAll(name).at(-1);
    if (text !== undefined) found[name] = coerce(property, text);
  }
  return found;
}

function coerce(schema: TSchema, text: string): unknown {
  const kind = kindOf(schema);
  if (kind === 'integer' && /^-?\d{1,16}$/.test(text)) return Number(text);
  if (kind === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
