import Type, {
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TSchemaOptions,
} from 'typebox';
import { SHOWN_ONCE } from './shown-once.ts';

/** The largest integer that JavaScript reads exactly from JSON. */
const integerMax = Number.MAX_SAFE_INTEGER;

/** An object that rejects unknown fields by name. `title` makes it a named component of the OpenAPI document. */
export function closed<P extends TProperties>(title: string, properties: P, options: TSchemaOptions = {}) {
  return Type.Object(properties, { title, additionalProperties: false, ...options });
}

/**
 * The body of a PUT: the fields that it may change, and the other fields of the resource, which it may repeat as they are, so
 * that what a GET returned can be sent back. Extensions of the schema name those, and those of them that change by themselves.
 */
export function changeOf<R extends TProperties, W extends TProperties>(
  title: string,
  { properties }: TObject<R>,
  writable: W,
) {
  const others = Object.entries(properties).filter(([field]) => !Object.hasOwn(writable, field));
  const repeated = Object.fromEntries(others.map(([field, schema]) => [field, optional(schema)])) as Repeated<
    R,
    W
  >;
  const serverSet = Object.keys(repeated);
  return closed(
    title,
    { ...repeated, ...writable },
    {
      description: `This call can’t change these fields; send them unchanged or omit them: ${serverSet.join(', ')}.`,
      'x-server-set': serverSet,
    },
  );
}
type Repeated<R extends TProperties, W extends TProperties> = {
  [K in Exclude<keyof R, keyof W>]: TOptional<R[K]>;
};

/** Any schema, for code that treats all of them alike. */
export type Schema = TSchema;

/** Fields of the resource that a body of `changeOf` may only repeat. */
export function serverSetFields(schema: TSchema): readonly string[] {
  const { 'x-server-set': fields }: { 'x-server-set'?: readonly string[] } = schema;
  return fields ?? [];
}

/** Those among them that change without a write; what was read is soon another value. */
export const volatileFields: ReadonlySet<string> = new Set([
  'health',
  'health_detail',
  'cooldown_until',
  'first_used_at',
  'last_used_at',
  'last_seen_at',
  'etag',
]);

/** An object that allows further fields, because another system owns its shape. */
export function open<P extends TProperties>(title: string, properties: P, options: TSchemaOptions = {}) {
  return Type.Object(properties, { title, additionalProperties: true, ...options });
}

/** An unnamed object, for query strings: unknown parameters are rejected by name. */
export function query<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

/** A query string to which another system adds parameters of its own. */
export function openQuery<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: true });
}

/** Path parameters: each is a required opaque string. */
export function params<K extends string>(...names: K[]) {
  const properties = Object.fromEntries(names.map((name) => [name, Id])) as Record<K, typeof Id>;
  return Type.Object(properties);
}

export function nullable<S extends TSchema>(schema: S, options: TSchemaOptions = {}) {
  return Type.Union([schema, Type.Null()], options);
}

export function optional<S extends TSchema>(schema: S) {
  return Type.Optional(schema);
}

export function oneOf<const V extends string[]>(values: readonly [...V], options: TSchemaOptions = {}) {
  return Type.Enum(values, { type: 'string', ...options });
}

export function text(options: { maxLength?: number; description?: string } & TSchemaOptions = {}) {
  return Type.String({ maxLength: 2000, ...options });
}

export function integer(options: { minimum?: number; maximum?: number } & TSchemaOptions = {}) {
  return Type.Integer({ minimum: 0, maximum: integerMax, ...options });
}

export function flag(options: TSchemaOptions = {}) {
  return Type.Boolean(options);
}

/** A UUIDv7 today. The API does not promise a format. */
export const Id = Type.String({ minLength: 1, maxLength: 100, description: 'An opaque identifier.' });

/** White space, controls and characters that show nothing: a name of these alone could not be read or called. */
const UNSEEN =
  '\\s\\u0000-\\u001f\\u007f-\\u00a0\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff9-\\ufffb';

/**
 * White space at its ends is refused, not removed: clients call lanes by their exact names, and two names that differ by a blank look the
 * same. The pattern takes linear time, because it also judges strings that are too long.
 */
export const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: `^[^${UNSEEN}](?:[\\s\\S]*\\S)?$`,
  description: 'Begins with a visible character, and has no white space at its end.',
});

/** In each row of a list whose rows no route reads alone. */
export const EntityTag = Type.String({
  description: 'The version of this resource. Send it as `If-Match` to change or delete only this version.',
});

export const Slug = Type.String({ description: 'Derived from the name; unique within the organization.' });

export const Timestamp = Type.String({
  format: 'date-time',
  description: 'RFC 3339, UTC, with milliseconds.',
});

export const Url = Type.String({
  pattern: '^https?://[^\\s]+$',
  maxLength: 2000,
  description: 'An http or https URL.',
});

export const Micros = integer({ description: 'Integer micro-USD.' });

/** Beside a cost in micro-USD, which is rounded half up. */
export const ExactUsd = Type.String({
  pattern: '^\\d+(?:\\.\\d{1,12})?$',
  description: 'Exact amount in US dollars, as a decimal string.',
});

export const HeaderFieldName = Type.String({
  pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
  maxLength: 100,
  description: 'The name of an HTTP header.',
});

/** A secret that Relay stores encrypted and never returns. */
export const WriteOnlySecret = Type.String({
  minLength: 1,
  maxLength: 10000,
  writeOnly: true,
  description: 'Stored encrypted; never returned.',
});

/** A secret that a response shows once. Such responses are not cached, and idempotent replays leave it out. */
export function shownOnce(description: string) {
  return Type.String({ description, [SHOWN_ONCE]: true });
}

export const OpenJson = Type.Unknown({ description: 'Any JSON value.' });

export const Ok = closed('Ok', { ok: Type.Literal(true) });

/** `limit` and `cursor` of every list. Without `limit`, a list returns the whole array. */
export const pageFields = {
  limit: optional(integer({ minimum: 1, maximum: 1000, description: 'Page size.' })),
  cursor: optional(
    Type.String({ maxLength: 1000, description: '`X-Next-Cursor` or `next_cursor` from the previous page.' }),
  ),
};

export const PageQuery = query(pageFields);

/** A collection that grows without bound, so it is always paged. */
export function page<S extends TSchema>(title: string, item: S) {
  return closed(title, { data: Type.Array(item), next_cursor: nullable(Type.String()) });
}
