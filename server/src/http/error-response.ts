import { type ErrorCode, errors, headers } from '@relay/contract';
import { RelayError } from '../domain/relay-error.ts';
import type { ErrorObject, Protocol } from '../protocols/protocol.ts';

export interface ErrorResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export interface ErrorContext {
  readonly requestId: string;
  /** The address of this deployment, so that `doc_url` links to its own pages. */
  readonly publicUrl: string;
}

export type ErrorShape = Pick<Protocol, 'errors' | 'headers'>;

/**
 * The one place where an error becomes a response. What is not a RelayError is a defect, and the response tells nothing about it.
 * `protocol`: what the caller speaks, whose clients parse errors in a shape of their own; management's own unless given.
 */
export function errorResponse(error: unknown, context: ErrorContext, protocol?: ErrorShape): ErrorResponse {
  const known = error instanceof RelayError ? error : new RelayError('internal_error', { cause: error });
  const said = errorObject(known, context);
  return {
    status: known.status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      [headers.requestId]: context.requestId,
      ...requestIdHeaders(protocol, context.requestId),
      [headers.errorSource]: 'relay',
      ...challenge(known),
      ...retryHeaders(known),
      ...known.detail.headers,
    },
    body: JSON.stringify(protocol?.errors.body(said, known.status) ?? { error: said }),
  };
}

/** The request's id in the further headers where clients of the protocol look for it. */
export function requestIdHeaders(
  protocol: Pick<Protocol, 'headers'> | undefined,
  requestId: string,
): Record<string, string> {
  return Object.fromEntries((protocol?.headers.requestIds ?? []).map((name) => [name, requestId]));
}

export function errorObject(error: RelayError, context: ErrorContext): ErrorObject {
  return {
    type: errors[error.code].type,
    code: error.code,
    message: error.message,
    param: error.detail.param ?? null,
    request_id: context.requestId,
    doc_url: `${context.publicUrl}/docs/errors/${error.code}`,
    ...error.detail.fields,
  };
}

/** Codes of a 401 without a wrong token: none was sent, or this door takes another kind of proof. */
const WITHOUT_TOKEN: ReadonlySet<ErrorCode> = new Set([
  'missing_api_key',
  'invalid_credentials',
  'totp_required',
  'invalid_context',
]);

/** Every 401 names the scheme that opens the door (RFC 9110), and whether a wrong token was the cause (RFC 6750). */
function challenge({ status, code }: RelayError): Record<string, string> {
  if (status !== 401) return {};
  const cause = WITHOUT_TOKEN.has(code) ? '' : ', error="invalid_token"';
  return { [headers.wwwAuthenticate]: `Bearer realm="relay"${cause}` };
}

/** Tells the client whether a retry can help. An unavailable store or process is usually back within a second, so the client may retry then. */
function retryHeaders({ code, status, detail }: RelayError): Record<string, string> {
  const shouldRetry = { [headers.shouldRetry]: String(detail.retry ?? errors[code].retry) };
  return status === 503 ? { ...shouldRetry, [headers.retryAfter]: '1' } : shouldRetry;
}
