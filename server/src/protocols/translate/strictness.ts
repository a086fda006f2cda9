import { JsonSource, parsedValue } from '../../kit/json-source.ts';
import { isObject, type JsonObject, listOf, objectOf } from '../../kit/json-value.ts';
import type { FieldSorter } from './field-sorter.ts';
import type { ProviderProtocol } from './meanings.ts';

/**
 * What each provider accepts where it promises to keep to a schema; it rejects requests with any other.
 * https://platform.openai.com/docs/guides/structured-outputs, https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
interface Dialect {
  /** Members of a schema that it rejects. */
  readonly rejected: ReadonlySet<string>;
  /** Whether every property of an object has to be required. */
  readonly requiresAll: boolean;
}

const COMPOSED = ['not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas', 'oneOf'];
const OPEN = [
  'patternProperties',
  'propertyNames',
  'unevaluatedProperties',
  'minProperties',
  'maxProperties',
];
const OF_LISTS = ['prefixItems', 'contains', 'minContains', 'maxContains', 'unevaluatedItems', 'uniqueItems'];

/** What values are like, beside their kind. Where Messages reject them, Anthropic's own SDKs leave them out too. */
const BOUNDS = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
];

const DIALECTS: Readonly<Record<ProviderProtocol, Dialect>> = {
  chat: { rejected: new Set([...COMPOSED, ...OPEN, ...OF_LISTS, 'allOf']), requiresAll: true },
  messages: {
    rejected: new Set([...COMPOSED.filter((name) => name !== 'oneOf'), ...OPEN, ...OF_LISTS, ...BOUNDS]),
    requiresAll: false,
  },
};

/** Values that are schemas themselves. */
const SCHEMA_MEMBERS = ['items', 'additionalProperties'];
const SCHEMA_LISTS = ['anyOf', 'oneOf', 'allOf'];
const SCHEMA_MAPS = ['properties', '$defs', 'definitions'];
/** One of these says what a value is; a schema without any allows every value. */
const KINDS = ['type', 'anyOf', 'oneOf', 'allOf', '$ref', 'enum', 'const'];

/** Whether the provider can be made to keep to the schema, which must be the schema of an object. */
export function canBeStrict(provider: ProviderProtocol, schema: unknown): boolean {
  const root = parsedValue(schema);
  return isObject(root) && root['type'] === 'object' && keepsTo(DIALECTS[provider], root);
}

function keepsTo(dialect: Dialect, schema: unknown): boolean {
  if (!isObject(schema) || !KINDS.some((name) => schema[name] !== undefined)) return false;
  if (Object.keys(schema).some((name) => dialect.rejected.has(name))) return false;
  if (isObjectSchema(schema) && !isClosed(dialect, schema)) return false;
  return schemasIn(schema).every((inside) => keepsTo(dialect, inside));
}

/** The schema without bounds, and the names of those that it had. */
export function withoutBounds(schema: unknown): {
  readonly schema: unknown;
  readonly left: readonly string[];
} {
  const left = new Set<string>();
  // Numbers keep their spelling.
  const value: unknown = schema instanceof JsonSource ? JSON.parse(schema.text, withRawNumbers) : schema;
  const unbound = unboundSchema(value, left);
  return { schema: left.size === 0 ? schema : unbound, left: [...left] };
}

function withRawNumbers(_name: string, value: unknown, { source }: { readonly source?: string }): unknown {
  return typeof value === 'number' && source !== undefined ? JSON.rawJSON(source) : value;
}

function unboundSchema(schema: unknown, left: Set<string>): unknown {
  if (!isObject(schema)) return schema;
  const inside = (value: unknown) => unboundSchema(value, left);
  return Object.fromEntries(
    Object.entries(schema).flatMap(([name, value]) => {
      if (BOUNDS.includes(name)) {
        left.add(name);
        return [];
      }
      if (SCHEMA_MEMBERS.includes(name)) return [[name, inside(value)]];
      if (SCHEMA_LISTS.includes(name)) return [[name, listOf(value).map(inside)]];
      if (!SCHEMA_MAPS.includes(name)) return [[name, value]];
      return [
        [name, Object.fromEntries(Object.entries(objectOf(value)).map(([key, each]) => [key, inside(each)]))],
      ];
    }),
  );
}

function isObjectSchema({ type, properties }: JsonObject): boolean {
  return type === 'object' || listOf(type).includes('object') || properties !== undefined;
}

function isClosed({ requiresAll }: Dialect, schema: JsonObject): boolean {
  if (schema['additionalProperties'] !== false) return false;
  const required = listOf(schema['required']);
  return !requiresAll || Object.keys(objectOf(schema['properties'])).every((name) => required.includes(name));
}

function schemasIn(schema: JsonObject): readonly unknown[] {
  return [
    ...SCHEMA_MEMBERS.flatMap((name) =>
      schema[name] === undefined || schema[name] === false ? [] : [schema[name]],
    ),
    ...SCHEMA_LISTS.flatMap((name) => listOf(schema[name])),
    ...SCHEMA_MAPS.flatMap((name) => Object.values(objectOf(schema[name]))),
  ];
}

/** Messages reject more strict tools. */
const TOOLS_MAX: Readonly<Record<ProviderProtocol, number>> = {
  chat: Number.POSITIVE_INFINITY,
  messages: 20,
};

/** What of one request a provider is made to keep to. A promise that it can't give is left out and named, also one by default. */
export class Strictness {
  readonly provider: ProviderProtocol;
  readonly #sorter: FieldSorter;
  #tools = 0;

  constructor(sorter: FieldSorter, provider: ProviderProtocol) {
    this.#sorter = sorter;
    this.provider = provider;
  }

  /** `strict` of a tool. Messages count optional properties over all tools, and a schema that OpenAI accepts has none. */
  ofTool(schema: unknown, asked: boolean, path: string): true | undefined {
    if (!asked) return undefined;
    const fits = this.#tools < TOOLS_MAX[this.provider] && canBeStrict('chat', schema);
    if (fits && canBeStrict(this.provider, schema)) {
      this.#tools += 1;
      return true;
    }
    this.#sorter.leaveOut(path);
    return undefined;
  }
}
