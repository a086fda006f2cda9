import type { ErrorObject, ErrorRules } from '../protocol.ts';

/** https://docs.anthropic.com/en/api/errors */
const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/**
 * `{"type": "error", "error": …, "request_id": …}`, as Anthropic's client libraries parse it. Their `type` follows the status; Relay's
 * own reason is in `code`, next to its other members.
 */
export const anthropicErrors: ErrorRules = {
  body: bodyOf,
  // The tool runner of Anthropic's SDK starts a thread, which only Anthropic holds, and continues without one after this error.
  unserved: ({ thread }) => (isThread(thread) ? { details: NO_THREADS } : {}),
  interruptedFrame: (error, status) => `event: error\ndata: ${JSON.stringify(bodyOf(error, status))}\n\n`,
};

const NO_THREADS = { error_code: 'thread_unsupported_request', unsupported: ['thread'] };

function isThread(thread: unknown): boolean {
  return typeof thread === 'object' && thread !== null;
}

function bodyOf(error: ErrorObject, status: number): object {
  return { type: 'error', error: { ...error, type: typeOf(status) }, request_id: error['request_id'] };
}

function typeOf(status: number): string {
  return TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}
