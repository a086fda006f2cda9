import { InvalidArgumentError, Option } from 'commander';
import { usageError } from '../kit/program-error.ts';
import { readStdin } from '../kit/read-input.ts';
import type { Surroundings } from '../kit/surroundings.ts';

/** What of a JSON Schema is needed to make a flag of a field. */
interface FieldSchema {
  readonly type?: string;
  readonly anyOf?: readonly FieldSchema[];
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

/** A flag that takes a name where the body has an id. */
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
export function flagsOf(schema: BodySchema, references: Readonly<Record<string, Reference>> = {}): Flags {
  const settable = Object.entries(schema.properties).filter(
    ([field]) => schema['x-server-set']?.includes(field) !== true,
  );
  const fields = settable.map(([field, given]) => fieldFlag(field, given, references[field]));
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

function fieldFlag(field: string, given: FieldSchema, reference: Reference | undefined): FieldFlag {
  const { schema, isNullable } = withoutNull(given);
  const description = describe(given, schema, isNullable);
  const name = reference?.flag ?? field.replaceAll('_', '-');
  if (schema.writeOnly === true) return secretFlag(field, name, description);
  const option = optionOf(name, schema, isNullable, reference?.describe ?? description);
  const key = option[0]?.attributeName() ?? '';
  return {
    field,
    options: option,
    read: (_surroundings, values) => (values[key] === NULL ? null : values[key]),
  };
}

function optionOf(name: string, schema: FieldSchema, isNullable: boolean, description: string): Option[] {
  if (schema.type === 'boolean') {
    return [
      new Option(`--${name}`, description),
      new Option(`--no-${name}`, `not ${name.replaceAll('-', ' ')}`),
    ];
  }
  if (schema.enum !== undefined) return [new Option(`--${name} <value>`, description).choices(schema.enum)];
  if (schema.type === 'integer') {
    return [new Option(`--${name} <number>`, description).argParser(integerParser(schema, isNullable))];
  }
  if (schema.type !== 'string') return [];
  const option = new Option(`--${name} <text>`, description);
  return [isNullable ? option.argParser((text) => (text === 'null' ? NULL : text)) : option];
}

function integerParser(schema: FieldSchema, isNullable: boolean): (text: string) => number | typeof NULL {
  return (text) => {
    if (isNullable && text === 'null') return NULL;
    const value = Number(text);
    if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(value)) {
      throw new InvalidArgumentError('It must be a whole number.');
    }
    if (schema.minimum !== undefined && value < schema.minimum) {
      throw new InvalidArgumentError(`It must be ${schema.minimum} or more.`);
    }
    if (schema.maximum !== undefined && value > schema.maximum) {
      throw new InvalidArgumentError(`It must be ${schema.maximum} or less.`);
    }
    return value;
  };
}

function secretFlag(field: string, name: string, description: string): FieldFlag {
  const stdin = new Option(`--${name}-stdin`, `read the ${name} from standard input`);
  const env = new Option(`--${name}-env <variable>`, `take the ${name} from this environment variable`);
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
        throw usageError(`The environment variable ${variable} is not set.`, 'set it, or name another');
      return value;
    },
  };
}

function withoutNull(given: FieldSchema): { schema: FieldSchema; isNullable: boolean } {
  const other = given.anyOf?.find(({ type }) => type !== 'null');
  const isNullable = given.anyOf?.some(({ type }) => type === 'null') ?? false;
  return { schema: other ?? given, isNullable };
}

function describe(given: FieldSchema, schema: FieldSchema, isNullable: boolean): string {
  const text = (given.description ?? schema.description ?? '').replace(/\.$/, '');
  const fallback = given.default ?? schema.default;
  const notes = [
    ...(fallback === undefined || fallback === null ? [] : [`default: ${String(fallback)}`]),
    ...(isNullable && schema.writeOnly !== true ? ['null clears it'] : []),
  ];
  if (notes.length === 0) return text;
  return text === '' ? `(${notes.join('; ')})` : `${text} (${notes.join('; ')})`;
}
