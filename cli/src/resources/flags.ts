import { InvalidArgumentError, Option } from 'commander';
import { usageError } from '../kit/program-error.ts';
import { readStdin } from '../kit/read-input.ts';
import type { Surroundings } from '../kit/surroundings.ts';
import { dollarsToMicros, durationMs, fieldName, inWords, type Unit } from '../kit/units.ts';
import { type FlagOwner, noWords, wordsFor } from './option-words.ts';

/** What of a JSON Schema is needed to make a flag of a field. */
interface FieldSchema {
  readonly type?: string;
  readonly anyOf?: readonly FieldSchema[];
  readonly items?: FieldSchema;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly description?: string;
  readonly writeOnly?: boolean;
}

export interface BodySchema {
  readonly properties: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[] | undefined;
  /** Fields that a body may only repeat as they are. */
  readonly 'x-server-set'?: readonly string[];
}

/** A flag that takes a text where the body has something else: a name for an id, dollars for micro-USD. */
export interface Reference {
  readonly flag: string;
  readonly describe: string;
}

export interface Flags {
  readonly options: readonly Option[];
  /** The fields that were given as flags; references still as the names that were typed. */
  read(
    surroundings: Surroundings,
    values: Readonly<Record<string, unknown>>,
  ): Promise<Record<string, unknown>>;
}

/**
 * The flags of a body: one for each field that a word can say. Lists and objects come with `--file` alone. A secret
 * never stands on the command line, where every process of the machine can read it.
 */
export function flagsOf(
  schema: BodySchema,
  references: Readonly<Record<string, Reference>> = {},
  owner: FlagOwner | null = null,
): Flags {
  const settable = Object.entries(schema.properties).filter(
    ([field]) => schema['x-server-set']?.includes(field) !== true,
  );
  const fields = settable.map(([field, given]) => fieldFlag(field, given, references[field], owner));
  return {
    options: fields.flatMap(({ options }) => options),
    async read(surroundings, values) {
      const found: Record<string, unknown> = {};
      for (const { field, read } of fields) {
        const value = await read(surroundings, values);
        if (value !== undefined) found[field] = value;
      }
      return found;
    },
  };
}

/** The parser of options takes null for "no value given", so that it has to go by another name. */
const NULL = Symbol('null');

interface FieldFlag {
  readonly field: string;
  readonly options: readonly Option[];
  read(surroundings: Surroundings, values: Readonly<Record<string, unknown>>): unknown;
}

function fieldFlag(
  field: string,
  given: FieldSchema,
  reference: Reference | undefined,
  owner: FlagOwner | null,
): FieldFlag {
  const { schema, isNullable } = withoutNull(given);
  const words = wordsFor(field, owner);
  const description = describe(field, given, words, owner?.verb !== 'update');
  const name = flagName(field, reference);
  if (schema.writeOnly === true) return secretFlag(field, name, description);
  const { unit } = fieldName(field);
  const option =
    reference === undefined
      ? optionOf(field, name, schema, isNullable, description, unit)
      : optionOf(field, name, { type: 'string' }, isNullable, words ?? reference.describe, null);
  const key = option[0]?.attributeName() ?? '';
  return {
    field,
    options: option,
    read: (_surroundings, values) => (values[key] === NULL ? null : values[key]),
  };
}

/** The flag of a field, without dashes in front. */
export function flagName(field: string, reference: Reference | undefined): string {
  return reference?.flag ?? fieldName(field).name.replaceAll('_', '-');
}

function optionOf(
  field: string,
  name: string,
  schema: FieldSchema,
  isNullable: boolean,
  description: string,
  unit: Unit,
): Option[] {
  if (schema.type === 'boolean') {
    return [
      new Option(`--${name}`, description),
      new Option(`--no-${name}`, noWords[field] ?? `disable ${name.replaceAll('-', ' ')}`),
    ];
  }
  if (schema.enum !== undefined) return [new Option(`--${name} <value>`, description).choices(schema.enum)];
  if (schema.type === 'integer') {
    const value = unit === null ? 'number' : unit === 'ms' ? 'duration' : 'dollars';
    const parse = integerParser(schema, isNullable, unit);
    return [new Option(`--${name} <${value}>`, description).argParser(parse)];
  }
  if (schema.type === 'array' && schema.items?.type === 'integer') {
    const parse = integerParser(schema.items, false, null);
    const parseAll = (text: string) =>
      text.split(',').flatMap((part) => (part.trim() === '' ? [] : [parse(part.trim())]));
    return [new Option(`--${name} <numbers>`, description).argParser(parseAll)];
  }
  if (schema.type !== 'string') return [];
  const option = new Option(`--${name} <text>`, description);
  return [isNullable ? option.argParser((text) => (text === 'null' ? NULL : text)) : option];
}

function integerParser(
  schema: FieldSchema,
  isNullable: boolean,
  unit: Unit,
): (text: string) => number | typeof NULL {
  return (text) => {
    if (isNullable && text === 'null') return NULL;
    const value = parsers[unit ?? 'number'](text);
    if (schema.minimum !== undefined && value < schema.minimum) {
      throw new InvalidArgumentError(`It must be ${inWords(schema.minimum, unit)} or more.`);
    }
    if (schema.maximum !== undefined && value > schema.maximum) {
      throw new InvalidArgumentError(`It must be ${inWords(schema.maximum, unit)} or less.`);
    }
    return value;
  };
}

const parsers: Readonly<Record<NonNullable<Unit> | 'number', (text: string) => number>> = {
  ms: durationMs,
  micros: dollarsToMicros,
  micros_per_1m_tokens: dollarsToMicros,
  number: wholeNumber,
};

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (/^-?\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError('It must be a whole number.');
}

function secretFlag(field: string, name: string, description: string): FieldFlag {
  const stdin = new Option(`--${name}-stdin`, `read the ${name} from standard input`);
  const env = new Option(`--${name}-env <variable>`, `environment variable that holds the ${name}`);
  stdin.conflicts(env.attributeName());
  if (description !== '')
    env.description += `; ${description.charAt(0).toLowerCase()}${description.slice(1)}`;
  return {
    field,
    options: [stdin, env],
    async read(surroundings, values) {
      if (values[stdin.attributeName()] === true) return (await readStdin(surroundings)).trim();
      const variable = values[env.attributeName()];
      if (typeof variable !== 'string') return undefined;
      const value = surroundings.env[variable];
      if (!value)
        throw usageError(`Environment variable ${variable} is not set.`, 'Set it, or name another.');
      return value;
    },
  };
}

function withoutNull(given: FieldSchema): { schema: FieldSchema; isNullable: boolean } {
  const other = given.anyOf?.find(({ type }) => type !== 'null');
  const isNullable = given.anyOf?.some(({ type }) => type === 'null') ?? false;
  return { schema: other ?? given, isNullable };
}

/** An update keeps the values of fields that are not given, so it has no defaults. */
function describe(
  field: string,
  given: FieldSchema,
  words: string | undefined,
  withDefault: boolean,
): string {
  const { schema, isNullable } = withoutNull(given);
  const text = words ?? (given.description ?? schema.description ?? '').replace(/\.$/, '');
  const whole = withDefault ? (given.default ?? schema.default) : undefined;
  const fallback = Array.isArray(whole) && whole.length === 0 ? undefined : whole;
  const notes = [
    ...(fallback === undefined || fallback === null ? [] : [`default: ${defaultWords(field, fallback)}`]),
    ...(isNullable && schema.writeOnly !== true ? ['null clears it'] : []),
  ];
  if (notes.length === 0) return text;
  return text === '' ? `(${notes.join('; ')})` : `${text} (${notes.join('; ')})`;
}

function defaultWords(field: string, fallback: unknown): string {
  return typeof fallback === 'number' ? inWords(fallback, fieldName(field).unit) : String(fallback);
}
