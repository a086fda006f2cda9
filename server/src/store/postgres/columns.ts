import type { ColumnType } from 'kysely';

/** A column as a value. The row types for Kysely derive from it, and a test compares it with the database. */
export interface Column<Select, Insert, Update> {
  /** PostgreSQL's own name of the type (`udt_name` of information_schema). */
  readonly type: string;
  readonly nullable: boolean;
  readonly hasDefault: boolean;
  /** Computed by PostgreSQL; never written. */
  readonly generated: boolean;
  /** Exists only for the type checker. */
  readonly types?: ColumnType<Select, Insert, Update>;
}

function plain<Select, Insert = Select>(type: string): Column<Select, Insert, Insert> {
  return { type, nullable: false, hasDefault: false, generated: false };
}

export function nullable<S, I, U>(column: Column<S, I, U>): Column<S | null, I | null | undefined, U | null> {
  return { type: column.type, nullable: true, hasDefault: column.hasDefault, generated: column.generated };
}

export function defaulted<S, I, U>(column: Column<S, I, U>): Column<S, I | undefined, U> {
  return { type: column.type, nullable: column.nullable, hasDefault: true, generated: false };
}

export function generated<S, I, U>(column: Column<S, I, U>): Column<S | null, never, never> {
  return { type: column.type, nullable: true, hasDefault: false, generated: true };
}

/** A text column whose CHECK constraint admits these values. */
export function oneOf<Value extends string>(): Column<Value, Value, Value> {
  return plain<Value>('text');
}

export const uuid = plain<string>('uuid');
export const uuidArray = plain<string[], readonly string[]>('_uuid');
export const text = plain<string>('text');
export const textArray = plain<string[]>('_text');
export const boolean = plain<boolean>('bool');
export const smallint = plain<number>('int2');
export const smallintArray = plain<number[], readonly number[]>('_int2');
export const integer = plain<number>('int4');
export const integerArray = plain<number[], readonly number[]>('_int4');
/** Limited to safe integers: a larger value is read as the largest of them. */
export const bigint = plain<number>('int8');
export const bigintArray = plain<number[], readonly number[]>('_int8');
export const bytes = plain<Buffer>('bytea');
export const timestamp = plain<Date, Date | string>('timestamptz');
/** Written as JSON text, because the driver would turn a JavaScript array into a PostgreSQL array. */
export const json = plain<unknown, string>('jsonb');
/** JSON whose shape every writer guarantees. */
export function jsonOf<Value>(): Column<Value, string, string> {
  return plain<Value, string>('jsonb');
}
