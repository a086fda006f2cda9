import type { TSchema } from 'typebox';
import type { Issue } from './check-value.ts';
import { kindOf, propertiesOf, shapeOf } from './schema-shape.ts';

/**
 * Turns a query string into the object its schema describes. Text that is not a valid integer or boolean stays text, so
 * that the validator reports it. `queryIssues` reports what this leaves out.
 */
export function coerceQuery(schema: TSchema, search: URLSearchParams): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    const text = search.get(name);
    if (text !== null) found[name] = coerce(property, text);
  }
  return found;
}

/** Bounds the response to a query string with very many parameters. */
const issuesMax = 20;

/**
 * Parameters that the route does not have, and parameters that are sent more than once: every parameter has one value. A
 * misspelt filter would otherwise return everything. A schema that allows further properties accepts unknown parameters.
 */
export function queryIssues(schema: TSchema | undefined, search: URLSearchParams): readonly Issue[] {
  const known = schema === undefined ? [] : Object.keys(propertiesOf(schema));
  const acceptsUnknown = schema !== undefined && shapeOf(schema).additionalProperties === true;
  const issues: Issue[] = [];
  for (const name of new Set(search.keys())) {
    if (issues.length === issuesMax) break;
    const path = name.slice(0, 100);
    if (!known.includes(name)) {
      if (!acceptsUnknown) issues.push({ path, message: unknownParameter(path, known) });
    } else if (search.getAll(name).length > 1) {
      issues.push({ path, message: `Query parameter ${path} was sent more than once; send it once` });
    }
  }
  return issues;
}

function unknownParameter(name: string, known: readonly string[]): string {
  const rest = known.length === 0 ? 'this route has none' : `known parameters are ${known.join(', ')}`;
  return `Unknown query parameter ${name}; ${rest}`;
}

function coerce(schema: TSchema, text: string): unknown {
  const kind = kindOf(schema);
  if (kind === 'integer' && /^-?\d{1,16}$/.test(text)) return Number(text);
  if (kind === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
