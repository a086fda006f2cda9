import { invalid, type Refusal } from './openai-error.ts';
import { type Check, checkFields, isFlag, isNumber, isOneOf, isText, wrongType } from './validate-fields.ts';

const inputsMax = 2048;

const isTokenList = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((token) => Number.isInteger(token) && token >= 0);

const isInput: Check = (value, param) => {
  if (value === '') return invalid(param, `'$.${param}' is invalid: it must not be empty.`, 'invalid_value');
  if (typeof value === 'string' || isTokenList(value)) return null;
  if (!Array.isArray(value))
    return wrongType(param, 'a string, an array of strings or an array of tokens', value);
  if (value.length === 0 || value.length > inputsMax) {
    const message = `'$.${param}' is invalid: expected between 1 and ${inputsMax} inputs, but got ${value.length}.`;
    return invalid(param, message, 'invalid_value');
  }
  const allText = value.every((item) => typeof item === 'string' && item !== '');
  if (allText || value.every(isTokenList)) return null;
  const message = `'$.${param}' is invalid: every input must be a non-empty string or every input an array of tokens.`;
  return invalid(param, message, 'invalid_value');
};

export const embeddingsFields: Record<string, Check> = {
  model: isText,
  input: isInput,
  encoding_format: isOneOf(['float', 'base64']),
  dimensions: isNumber(1, 4096, true),
  user: isText,
  store: isFlag,
};

export function validateEmbeddings(body: Record<string, unknown>): Refusal | null {
  return checkFields(body, embeddingsFields, ['model', 'input']);
}
