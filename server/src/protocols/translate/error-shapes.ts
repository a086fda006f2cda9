import type { Operation } from '@relay/contract';
import type { JsonObject } from '../../kit/json-value.ts';
import type { Failure } from './failure.ts';

/** https://platform.claude.com/docs/en/api/errors */
const MESSAGES_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** Error types in a stream, where there is no status to go by. The second of two that say the same is the usual one. */
const SAME_TYPES: readonly (readonly [chat: string, messages: string])[] = [
  ['insufficient_quota', 'rate_limit_error'],
  ['rate_limit_exceeded', 'rate_limit_error'],
  ['tokens', 'rate_limit_error'],
  ['requests', 'rate_limit_error'],
  ['rate_limit_error', 'rate_limit_error'],
  ['invalid_request_error', 'invalid_request_error'],
  ['authentication_error', 'authentication_error'],
  ['permission_error', 'permission_error'],
  ['not_found_error', 'not_found_error'],
  ['service_unavailable', 'overloaded_error'],
  ['overloaded_error', 'overloaded_error'],
  ['timeout', 'timeout_error'],
  ['server_error', 'api_error'],
];
const TO_MESSAGES = new Map(SAME_TYPES);
const TO_CHAT = new Map(SAME_TYPES.map(([chat, messages]) => [messages, chat]));

/** Codes that clients of Responses act on, by the type of an error. */
const RESPONSES_CODES: Readonly<Record<string, string>> = {
  rate_limit_error: 'rate_limit_exceeded',
  requests: 'rate_limit_exceeded',
  tokens: 'rate_limit_exceeded',
  overloaded_error: 'server_is_overloaded',
  service_unavailable: 'server_is_overloaded',
  billing_error: 'insufficient_quota',
  authentication_error: 'invalid_api_key',
  not_found_error: 'model_not_found',
  request_too_large: 'context_length_exceeded',
  api_error: 'server_error',
  timeout_error: 'server_error',
};
const RESPONSES_TYPES: Readonly<Record<string, string>> = {
  api_error: 'server_error',
  overloaded_error: 'server_error',
};

/**
 * Agents shorten their prompt when they read this: the code of OpenAI's protocols, and the words of Messages. Providers say it in these
 * ways, and many of them with a type that says only that the request is invalid.
 */
const CONTEXT_CODE = 'context_length_exceeded';
const CONTEXT_WORDS = 'prompt is too long';
const CONTEXT_CODES: ReadonlySet<unknown> = new Set([CONTEXT_CODE, 'exceed_context_size_error']);
const TOO_LONG = new RegExp(
  [
    CONTEXT_WORDS,
    'input is too long',
    'input token length too long',
    'exceeds? (?:the )?(?:available |maximum |model.?s )?context',
    'exceeds? the (?:maximum number of tokens|model.?s? token limit)',
    'exceeded model token limit',
    'context (?:length|window|size|limit) (?:is |was )?exceeded',
    'exceed context limit',
    'maximum (?:context|prompt|model) length',
    'longer than the (?:maximum )?model.?s? (?:maximum )?(?:context )?length',
    'reduce the length of the (?:messages|prompt|input)',
    'inputs?`? (?:tokens \\+|must have less than)',
    'range of input length',
    'too many input tokens',
  ].join('|'),
  'i',
);

/** Where the error stands. */
export interface ErrorPlace {
  /** Null inside a stream. */
  readonly status: number | null;
  readonly requestId: string;
}

/** The body of an error, as clients of this protocol read it. */
export function errorBody(client: Operation, failure: Failure, place: ErrorPlace): JsonObject {
  switch (client) {
    case 'messages':
      return messagesError(failure, place);
    case 'responses':
      return { error: responsesError(failure, place.status) };
    default:
      return chatError(failure, place.status);
  }
}

export function messagesError(failure: Failure, { status, requestId }: ErrorPlace): JsonObject {
  const isContext = isTooLong(failure);
  const type = isContext ? 'invalid_request_error' : messagesType(failure, status);
  const hasWords = !isContext || failure.message.toLowerCase().includes(CONTEXT_WORDS);
  const message = hasWords ? failure.message : `${CONTEXT_WORDS}: ${failure.message}`;
  return { type: 'error', error: { type, message }, request_id: requestId };
}

/** `code` keeps the provider's own word. */
export function chatError(failure: Failure, status: number | null): JsonObject {
  const { message, param = null } = failure;
  if (isTooLong(failure))
    return { error: { message, type: 'invalid_request_error', param, code: CONTEXT_CODE } };
  const type = typeOf(failure, status);
  return { error: { message, type: TO_CHAT.get(type) ?? type, param, code: failure.code ?? type } };
}

interface ResponsesError extends JsonObject {
  readonly message: string;
  readonly code: string;
}

export function responsesError(failure: Failure, status: number | null): ResponsesError {
  const { message, param = null } = failure;
  if (isTooLong(failure)) return { message, type: 'invalid_request_error', param, code: CONTEXT_CODE };
  const type = typeOf(failure, status);
  const code = failure.code ?? RESPONSES_CODES[type] ?? type;
  return { message, type: RESPONSES_TYPES[type] ?? type, param, code };
}

/** A rate limit may name the size of a request too. */
function isTooLong({ type, code, message }: Failure): boolean {
  if (CONTEXT_CODES.has(code) || CONTEXT_CODES.has(type)) return true;
  return TOO_LONG.test(message) && TO_MESSAGES.get(type ?? '') !== 'rate_limit_error';
}

/** What the provider calls it; else what Messages call an error of that status. */
function typeOf({ type, status: own }: Failure, status: number | null): string {
  return type ?? typeOfStatus(status ?? own ?? null);
}

function messagesType(failure: Failure, status: number | null): string {
  if (status !== null) return typeOfStatus(status);
  const type = typeOf(failure, null);
  return TO_MESSAGES.get(type) ?? (isMessagesType(type) ? type : 'api_error');
}

function typeOfStatus(status: number | null): string {
  if (status === null) return 'api_error';
  return MESSAGES_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
}

/** Messages have a closed list of types. */
function isMessagesType(type: string): boolean {
  return type === 'api_error' || Object.values(MESSAGES_TYPES).includes(type);
}
