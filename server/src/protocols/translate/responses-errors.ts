import { type JsonObject, objectOf } from '../../kit/json-value.ts';
import { chatFailure, messagesFailure } from './error-shapes.ts';
import type { Failure } from './model-events.ts';

/** Codes that clients of Responses act on, by the type of a provider's error. */
const CODES: Readonly<Record<string, string>> = {
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
const TYPES: Readonly<Record<string, string>> = {
  api_error: 'server_error',
  overloaded_error: 'server_error',
};
/** Messages report a prompt that does not fit as an invalid request; agents shorten it when they read the code. */
const TOO_LONG = /prompt is too long|exceeds? (?:the )?context|maximum context length/i;

export function responsesError({ type, message }: Failure): JsonObject & { readonly message: string } {
  const code = TOO_LONG.test(message) ? 'context_length_exceeded' : (CODES[type] ?? type);
  return { message, type: TYPES[type] ?? type, param: null, code };
}

/** A chat provider's error has the members that Responses have, apart from those that compatible providers leave out. */
export function responsesErrorOfChat(body: unknown): unknown {
  const failure = chatFailure(body);
  if (failure === null) return null;
  const given = objectOf(objectOf(body)['error']);
  const made = responsesError(failure);
  return { error: { ...made, param: given['param'] ?? null, code: given['code'] ?? made['code'] } };
}

export function responsesErrorOfMessages(body: unknown): unknown {
  const failure = messagesFailure(body);
  return failure === null ? null : { error: responsesError(failure) };
}
