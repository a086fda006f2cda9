import type { TSchema } from 'typebox';
import { kindOf, propertiesOf } from './schema-shape.ts';

/**
 * Turns a query string into the object its schema describes. Text that is not a valid integer or boolean stays text, so
 * that the validator reports it. Unknown parameters are dropped; of a repeated one, the last value counts.
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
