import { isRecord } from './fault.ts';
import { invalid, type Refusal } from './openai-error.ts';
import {
  type Check,
  checkFields,
  hasFields,
  isFlag,
  isListOf,
  isNumber,
  isObject,
  isOneOf,
  isText,
  isToolName,
  missing,
  samplingFields,
  wrongType,
} from './validate-fields.ts';

const partTypes = [
  'input_text',
  'input_image',
  'input_file',
  'input_audio',
  'output_text',
  'refusal',
  'summary_text',
  'reasoning_text',
];

const isPart: Check = (value, param) => {
  const found = hasFields({ type: isOneOf(partTypes) }, ['type'])(value, param);
  if (found !== null || !isRecord(value)) return found;
  const type = value['type'];
  if (type === 'input_text' || type === 'output_text')
    return hasFields({ text: isText }, ['text'])(value, param);
  if (type !== 'input_image' || value['file_id'] !== undefined) return null;
  return hasFields({ image_url: isText, detail: isText }, ['image_url'])(value, param);
};

const isContent: Check = (value, param) => {
  if (typeof value === 'string') return null;
  if (Array.isArray(value)) return isListOf(isPart)(value, param);
  return wrongType(param, 'one of a string or array of objects', value);
};

const isMessage = hasFields(
  { role: isOneOf(['user', 'assistant', 'system', 'developer']), content: isContent },
  ['role', 'content'],
);

/** The provider decrypts what it has encrypted; anything else fails. */
const isEncrypted: Check = (value, param) => {
  if (typeof value === 'string' && /^[\w+/-]+=*$/.test(value)) return null;
  return invalid(param, 'The encrypted content could not be verified.', 'invalid_encrypted_content');
};

const itemChecks: Record<string, Check> = {
  message: isMessage,
  function_call: hasFields({ call_id: isText, name: isText, arguments: isText }, [
    'call_id',
    'name',
    'arguments',
  ]),
  function_call_output: hasFields({ call_id: isText }, ['call_id', 'output']),
  reasoning: hasFields({ encrypted_content: isEncrypted }, ['summary']),
};

/** An item without a type is a message; types that are not known here are let through as the API grows them often. */
const isItem: Check = (value, param) => {
  if (!isRecord(value)) return wrongType(param, 'an object', value);
  const type = value['type'] ?? 'message';
  if (typeof type !== 'string') return wrongType(`${param}.type`, 'a string', type);
  return itemChecks[type]?.(value, param) ?? null;
};

const isInput: Check = (value, param) => {
  if (typeof value === 'string') return null;
  if (Array.isArray(value)) return isListOf(isItem)(value, param);
  return wrongType(param, 'one of a string or array of objects', value);
};

const isTool: Check = (value, param) => {
  const found = hasFields({ type: isText }, ['type'])(value, param);
  if (found !== null || !isRecord(value) || value['type'] !== 'function') return found;
  return hasFields({ name: isToolName, parameters: isObject, strict: isFlag }, ['name'])(value, param);
};

const isToolChoice: Check = (value, param) => {
  if (typeof value === 'string') return isOneOf(['none', 'auto', 'required'])(value, param);
  return hasFields({ type: isText, name: isText }, ['type'])(value, param);
};

const isFormat: Check = (value, param) => {
  const found = hasFields({ type: isOneOf(['text', 'json_object', 'json_schema']) }, ['type'])(value, param);
  if (found !== null || !isRecord(value) || value['type'] !== 'json_schema') return found;
  return hasFields({ name: isToolName, schema: isObject, strict: isFlag }, ['name', 'schema'])(value, param);
};

/** Usage always comes with the last event here, and asking for it the chat way is an error. */
const isStreamOptions: Check = (value, param) => {
  const found = hasFields({ include_obfuscation: isFlag })(value, param);
  if (found !== null || !isRecord(value)) return found;
  const unknown = Object.keys(value).find((name) => name !== 'include_obfuscation');
  if (unknown === undefined) return null;
  return invalid(`${param}.${unknown}`, `Unknown parameter: '${param}.${unknown}'.`, 'unknown_parameter');
};

export const responsesFields: Record<string, Check> = {
  ...samplingFields,
  input: isInput,
  instructions: isText,
  max_output_tokens: isNumber(16, Number.MAX_SAFE_INTEGER, true),
  max_tool_calls: isNumber(1, Number.MAX_SAFE_INTEGER, true),
  tools: isListOf(isTool, 0, 128),
  tool_choice: isToolChoice,
  text: hasFields({ format: isFormat, verbosity: isText }),
  stream_options: isStreamOptions,
  previous_response_id: isText,
  conversation: () => null,
  prompt: isObject,
  include: isListOf(isText),
  reasoning: isObject,
  truncation: isOneOf(['auto', 'disabled']),
  background: isFlag,
};

export function validateResponses(body: Record<string, unknown>): Refusal | null {
  const found = checkFields(body, responsesFields, ['model']);
  if (found !== null) return found;
  const named = ['input', 'previous_response_id', 'conversation', 'prompt'];
  if (named.every((name) => body[name] === undefined || body[name] === null)) return missing('input');
  if (isRecord(body['stream_options']) && body['stream'] !== true) {
    const message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
    return invalid('stream_options', message, 'invalid_parameter');
  }
  return null;
}
