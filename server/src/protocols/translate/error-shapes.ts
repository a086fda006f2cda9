import { isObject, type JsonObject } from '../../kit/json-value.ts';
import type { Failure } from './model-events.ts';

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

export function messagesError({ type, message }: Failure): JsonObject {
  return { type: 'error', error: { type: TO_MESSAGES.get(type) ?? knownToMessages(type), message } };
}

/** `code` keeps the provider's own word. */
export function chatError({ type, message }: Failure): JsonObject {
  return { error: { message, type: TO_CHAT.get(type) ?? type, param: null, code: type } };
}

/** A chat provider's error body as Messages have it: the status decides the type. */
export function messagesErrorBody(body: unknown, status: number): unknown {
  const failure = chatFailure(body);
  if (failure === null) return null;
  const type = MESSAGES_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  return { type: 'error', error: { type, message: failure.message } };
}

/** A Messages provider's error body as chat completions have it. */
export function chatErrorBody(body: unknown): unknown {
  const failure = messagesFailure(body);
  return failure === null ? null : chatError(failure);
}

/** `{"error": {"message", "type", "code"}}`, or a text in place of the object. */
export function chatFailure(body: unknown): Failure | null {
  if (!isObject(body)) return null;
  const { error } = body;
  if (typeof error === 'string' && error !== '') return { type: 'server_error', message: error };
  if (!isObject(error) || typeof error['message'] !== 'string') return null;
  const { type, code, message } = error;
  return { type: firstText(type, code) ?? 'server_error', message };
}

/** `{"type": "error", "error": {"type", "message"}}`. */
export function messagesFailure(body: unknown): Failure | null {
  if (!isObject(body) || !isObject(body['error'])) return null;
  const { type, message } = body['error'];
  return typeof message === 'string' ? { type: firstText(type) ?? 'api_error', message } : null;
}

function firstText(...values: readonly unknown[]): string | null {
  const found = values.find((value) => typeof value === 'string' && value !== '');
  return typeof found === 'string' ? found : null;
}

/** Messages have a closed list of types. */
function knownToMessages(type: string): string {
  return type === 'api_error' || Object.values(MESSAGES_TYPES).includes(type) ? type : 'api_error';
}
