import { isRecord } from './fault.ts';
import { invalid, type Refusal } from './openai-error.ts';
import {
  type Check,
  checkFields,
  firstRefusal,
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
  wrongValue,
} from './validate-fields.ts';

const isImageUrl: Check = (value, param) => {
  if (typeof value !== 'string') return wrongType(param, 'a string', value);
  if (/^(https?:\/\/|data:image\/[a-z+.-]+;base64,)/.test(value)) return null;
  return wrongValue(param, 'expected a web address or a base64-encoded data URL with an image MIME type.');
};

const partChecks: Record<string, Check> = {
  text: hasFields({ text: isText }, ['text']),
  refusal: hasFields({ refusal: isText }, ['refusal']),
  image_url: hasFields({ image_url: hasFields({ url: isImageUrl, detail: isText }, ['url']) }, ['image_url']),
  input_audio: hasFields({ input_audio: hasFields({ data: isText, format: isText }, ['data', 'format']) }, [
    'input_audio',
  ]),
  file: hasFields({ file: isObject }, ['file']),
};

const isPart: Check = (value, param) => {
  if (!isRecord(value)) return wrongType(param, 'an object', value);
  if (value['type'] === undefined) return missing(`${param}.type`);
  const unsupported = isOneOf(Object.keys(partChecks))(value['type'], `${param}.type`);
  return unsupported ?? partChecks[String(value['type'])]?.(value, param) ?? null;
};

const isContent: Check = (value, param) => {
  if (typeof value === 'string') return null;
  if (Array.isArray(value)) return isListOf(isPart, 1)(value, param);
  return wrongType(param, 'one of a string or array of objects', value);
};

const roles = ['system', 'assistant', 'user', 'function', 'tool', 'developer'];

const isToolCall = hasFields(
  {
    id: isText,
    type: isOneOf(['function', 'custom']),
    function: hasFields({ name: isText, arguments: isText }, ['name', 'arguments']),
  },
  ['id', 'type'],
);

const isMessage: Check = (value, param) => {
  if (!isRecord(value)) return wrongType(param, 'an object', value);
  const shape = {
    role: isOneOf(roles),
    content: isContent,
    name: isText,
    tool_calls: isListOf(isToolCall, 1),
  };
  const found = checkFields(value, shape, ['role'], `${param}.`);
  if (found !== null) return found;
  if (value['role'] === 'tool' && typeof value['tool_call_id'] !== 'string')
    return missing(`${param}.tool_call_id`);
  const mayLackContent = value['role'] === 'assistant' || value['role'] === 'function';
  const lacksContent = value['content'] === undefined || value['content'] === null;
  return lacksContent && !mayLackContent ? missing(`${param}.content`) : null;
};

const isTool = hasFields(
  {
    type: isOneOf(['function', 'custom']),
    function: hasFields({ name: isToolName, description: isText, parameters: isObject, strict: isFlag }, [
      'name',
    ]),
    custom: hasFields({ name: isToolName }, ['name']),
  },
  ['type'],
);

const isToolChoice: Check = (value, param) => {
  if (typeof value === 'string') return isOneOf(['none', 'auto', 'required'])(value, param);
  return hasFields({ type: isText, function: hasFields({ name: isText }, ['name']) }, ['type'])(value, param);
};

const isStop: Check = (value, param) =>
  typeof value === 'string' ? null : isListOf(isText, 1, 4)(value, param);

const isResponseFormat = hasFields(
  {
    type: isOneOf(['text', 'json_object', 'json_schema']),
    json_schema: hasFields({ name: isToolName, schema: isObject, strict: isFlag }, ['name']),
  },
  ['type'],
);

const penalty = isNumber(-2, 2);

export const chatFields: Record<string, Check> = {
  ...samplingFields,
  messages: isListOf(isMessage, 1),
  n: isNumber(1, 128, true),
  max_tokens: isNumber(1, Number.MAX_SAFE_INTEGER, true),
  max_completion_tokens: isNumber(1, Number.MAX_SAFE_INTEGER, true),
  stream_options: hasFields({ include_usage: isFlag, include_obfuscation: isFlag }),
  tools: isListOf(isTool, 0, 128),
  tool_choice: isToolChoice,
  functions: isListOf(isObject),
  function_call: () => null,
  response_format: isResponseFormat,
  stop: isStop,
  seed: isNumber(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, true),
  logprobs: isFlag,
  logit_bias: isObject,
  presence_penalty: penalty,
  frequency_penalty: penalty,
  reasoning_effort: isText,
  verbosity: isText,
  modalities: isListOf(isText),
  audio: isObject,
  prediction: isObject,
  web_search_options: isObject,
};

export function validateChat(body: Record<string, unknown>): Refusal | null {
  return firstRefusal(
    checkFields(body, chatFields, ['model', 'messages']),
    checkStreamOptions(body),
    checkCaps(body),
    checkTools(body),
    checkToolAnswers(body['messages']),
  );
}

function checkStreamOptions(body: Record<string, unknown>): Refusal | null {
  if (!isRecord(body['stream_options']) || body['stream'] === true) return null;
  const message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
  return invalid('stream_options', message, 'invalid_parameter');
}

function checkCaps(body: Record<string, unknown>): Refusal | null {
  if (typeof body['max_tokens'] !== 'number' || typeof body['max_completion_tokens'] !== 'number')
    return null;
  const message =
    "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported. Use one of them.";
  return invalid('max_tokens', message, 'invalid_parameter_combination');
}

function checkTools(body: Record<string, unknown>): Refusal | null {
  const choice = body['tool_choice'];
  if (choice !== undefined && choice !== null && choice !== 'none' && !Array.isArray(body['tools'])) {
    const message =
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.";
    return invalid('tool_choice', message, 'invalid_value');
  }
  const format = body['response_format'];
  if (isRecord(format) && format['type'] === 'json_schema' && !isRecord(format['json_schema'])) {
    return missing('response_format.json_schema');
  }
  return null;
}

/** A tool message has to answer a call that an earlier assistant message made. */
function checkToolAnswers(messages: unknown): Refusal | null {
  const called = new Set<unknown>();
  if (!Array.isArray(messages)) return null;
  for (const [index, message] of messages.entries()) {
    if (!isRecord(message)) continue;
    const calls = message['tool_calls'];
    if (Array.isArray(calls)) for (const call of calls) called.add(isRecord(call) ? call['id'] : null);
    if (message['role'] !== 'tool' || called.has(message['tool_call_id'])) continue;
    const text =
      "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.";
    return invalid(`messages[${index}].role`, text, 'invalid_value');
  }
  return null;
}
