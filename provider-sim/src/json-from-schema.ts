import { isRecord } from './fault.ts';

const depthMax = 32;

/** The plainest value that satisfies a JSON schema of the kind structured output and tools allow. */
export function valueForSchema(schema: unknown, root: unknown = schema, depth = 0): unknown {
  if (!isRecord(schema) || depth > depthMax) return null;
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  if (typeof schema['$ref'] === 'string')
    return valueForSchema(resolve(schema['$ref'], root), root, depth + 1);
  for (const word of ['anyOf', 'oneOf', 'allOf']) {
    const options = schema[word];
    if (Array.isArray(options)) return valueForSchema(options[0], root, depth + 1);
  }
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  switch (type) {
    case 'string':
      return stringFor(schema);
    case 'integer':
      return Math.ceil(lowestNumber(schema));
    case 'number':
      return lowestNumber(schema);
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array':
      return arrayFor(schema, root, depth);
    default:
      return objectFor(schema, root, depth);
  }
}

function resolve(reference: string, root: unknown): unknown {
  let found = root;
  for (const step of reference.replace(/^#\/?/, '').split('/')) {
    if (step === '') continue;
    found = isRecord(found) ? found[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  }
  return found;
}

const formats: Record<string, string> = {
  'date-time': '2026-01-02T03:04:05Z',
  date: '2026-01-02',
  time: '03:04:05Z',
  email: 'someone@example.com',
  uuid: '018f0000-0000-7000-8000-000000000000',
  uri: 'https://example.com/',
};

function stringFor(schema: Record<string, unknown>): string {
  const text = formats[String(schema['format'])] ?? 'text';
  const length = typeof schema['minLength'] === 'number' ? schema['minLength'] : 0;
  const padded = text.padEnd(length, 'x');
  return typeof schema['maxLength'] === 'number' ? padded.slice(0, schema['maxLength']) : padded;
}

function lowestNumber(schema: Record<string, unknown>): number {
  if (typeof schema['minimum'] === 'number') return schema['minimum'];
  if (typeof schema['exclusiveMinimum'] === 'number') return schema['exclusiveMinimum'] + 1;
  if (typeof schema['maximum'] === 'number') return Math.min(1, schema['maximum']);
  return 1;
}

function arrayFor(schema: Record<string, unknown>, root: unknown, depth: number): unknown[] {
  const length = typeof schema['minItems'] === 'number' ? schema['minItems'] : depth > 6 ? 0 : 1;
  return Array.from({ length }, () => valueForSchema(schema['items'], root, depth + 1));
}

/** Only what is required, so that a schema that refers to itself through an optional part ends. */
function objectFor(schema: Record<string, unknown>, root: unknown, depth: number): Record<string, unknown> {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : Object.keys(properties);
  const value: Record<string, unknown> = {};
  for (const name of required) {
    if (typeof name === 'string') value[name] = valueForSchema(properties[name], root, depth + 1);
  }
  return value;
}
