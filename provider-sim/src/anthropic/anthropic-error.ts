import type { Refusal } from '../openai-error.ts';

const types: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** Clients continue without a thread after this error. */
export const NO_THREADS = 'thread_unsupported_request';

const messages: Record<number, string> = {
  429: 'This request would exceed your account’s rate limit. Please try again later.',
  500: 'Internal server error',
  529: 'Overloaded',
};

/** The same refusal as Anthropic says it. */
export function anthropicErrorBody({ status, message, code, param }: Refusal, requestId: string): string {
  const type = types[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
  const details = code === NO_THREADS ? { details: { error_code: code, unsupported: [param] } } : {};
  const error = { ...details, type, message: messages[status] ?? message };
  return JSON.stringify({ type: 'error', error, request_id: requestId });
}

/** What a stream says that fails after it began with 200. */
export const overloadedFrame =
  'event: error\ndata: {"type":"error","error":{"details":null,"type":"overloaded_error","message":"Overloaded"}}\n\n';
