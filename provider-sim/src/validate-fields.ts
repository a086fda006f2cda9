import { isRecord } from './fault.ts';
import { invalid, type Refusal } from './openai-error.ts';

/** Says what is wrong with a value, naming it by its path as the provider does (`messages[0].role`). */
export type Check = (value: unknown, param: string) => Refusal | null;

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (Number.isInteger(value)) return 'an integer';
  if (typeof value === 'number') return 'a decimal number';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

export function wrongType(param: string, expected: string, value: unknown): Refusal {
  const message = `Invalid type for '${param}': expected ${expected}, but got ${kindOf(value)} instead.`;
  return invalid(param, message, 'invalid_type');
}

export function wrongValue(param: string, message: string): Refusal {
  return invalid(param, `Invalid value for '${param}': ${message}`, 'invalid_value');
}

export function missing(param: string): Refusal {
  return invalid(param, `Missing required parameter: '${param}'.`, 'missing_required_parameter');
}

export const isText: Check = (value, param) =>
  typeof value === 'string' ? null : wrongType(param, 'a string', value);

export const isFlag: Check = (value, param) =>
  typeof value === 'boolean' ? null : wrongType(param, 'a boolean', value);

export const isObject: Check = (value, param) =>
  isRecord(value) ? null : wrongType(param, 'an object', value);

export function isNumber(min: number, max: number, integer = false): Check {
  const expected = integer ? 'an integer' : 'a decimal number';
  return (value, param) => {
    if (typeof value !== 'number' || (integer && !Number.isInteger(value))) {
      return wrongType(param, expected, value);
    }
    if (value < min) {
      const message = `Invalid '${param}': value below minimum. Expected a value >= ${min}, but got ${value} instead.`;
      return invalid(param, message, integer ? 'integer_below_min_value' : 'decimal_below_min_value');
    }
    if (value > max) {
      const message = `Invalid '${param}': value above maximum. Expected a value <= ${max}, but got ${value} instead.`;
      return invalid(param, message, integer ? 'integer_above_max_value' : 'decimal_above_max_value');
    }
    return null;
  };
}

export function isOneOf(values: readonly string[]): Check {
  return (value, param) => {
    if (typeof value !== 'string') return wrongType(param, `one of ${values.join(', ')}`, value);
    if (values.includes(value)) return null;
    return wrongValue(param, `'${value}'. Supported values are: ${values.map((v) => `'${v}'`).join(', ')}.`);
  };
}

export function isListOf(check: Check, lengthMin = 0, lengthMax = Number.POSITIVE_INFINITY): Check {
  return (value, param) => {
    if (!Array.isArray(value)) return wrongType(param, 'an array', value);
    if (value.length < lengthMin) {
      const message = `Invalid '${param}': empty array. Expected an array with minimum length ${lengthMin}.`;
      return invalid(param, message, 'empty_array');
    }
    if (value.length > lengthMax) {
      const message = `Invalid '${param}': array too long. Expected an array with maximum length ${lengthMax}.`;
      return invalid(param, message, 'array_above_max_length');
    }
    for (const [index, item] of value.entries()) {
      const found = check(item, `${param}[${index}]`);
      if (found !== null) return found;
    }
    return null;
  };
}

/** An object whose listed fields are checked where present and not null; the required ones must be there. */
export function hasFields(table: Record<string, Check>, required: readonly string[] = []): Check {
  return (value, param) => {
    if (!isRecord(value)) return wrongType(param, 'an object', value);
    return checkFields(value, table, required, `${param}.`);
  };
}

export function checkFields(
  body: Record<string, unknown>,
  table: Record<string, Check>,
  required: readonly string[],
  prefix = '',
): Refusal | null {
  for (const name of required) {
    if (body[name] === undefined || body[name] === null) return missing(prefix + name);
  }
  for (const name in table) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    const found = table[name]?.(value, prefix + name) ?? null;
    if (found !== null) return found;
  }
  return null;
}

export function firstRefusal(...found: (Refusal | null)[]): Refusal | null {
  return found.find((each) => each !== null) ?? null;
}

/** Accepted, as the provider's own edge does for vendor fields, but written down. */
export function unknownFieldsOf(body: Record<string, unknown>, known: Record<string, unknown>): string[] {
  return Object.keys(body).filter((name) => !Object.hasOwn(known, name));
}

const toolNameShape = /^[a-zA-Z0-9_-]{1,64}$/;

export const isToolName: Check = (value, param) => {
  if (typeof value !== 'string') return wrongType(param, 'a string', value);
  if (toolNameShape.test(value)) return null;
  const message = `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
  return invalid(param, message, 'invalid_value');
};

/** What chat and responses have in common. */
export const samplingFields: Record<string, Check> = {
  model: isText,
  stream: isFlag,
  temperature: isNumber(0, 2),
  top_p: isNumber(0, 1),
  top_logprobs: isNumber(0, 20, true),
  parallel_tool_calls: isFlag,
  store: isFlag,
  metadata: isObject,
  user: isText,
  safety_identifier: isText,
  prompt_cache_key: isText,
  prompt_cache_retention: isText,
  service_tier: isOneOf(['auto', 'default', 'flex', 'scale', 'priority']),
};
