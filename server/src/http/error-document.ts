import type { IncomingHttpHeaders } from 'node:http';
import { refusalPageHtml } from '@relay/contract';
import type { RelayError } from '../domain/relay-error.ts';
import type { ErrorResponse } from './error-response.ts';

const CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'";
const SIGN_IN = { path: '/console/', label: 'Back to the sign-in page' };

/** Whether a client of a route for people asks for JSON nevertheless. Browsers ask for pages. */
export function wantsJson({ accept }: IncomingHttpHeaders): boolean {
  return accept?.includes('application/json') === true;
}

/** The same error as a page, for a person who has come to a route with their browser. */
export function asDocument(
  { status, headers }: ErrorResponse,
  error: RelayError,
  page: { readonly heading: string; readonly requestId: string },
): ErrorResponse {
  return {
    status,
    headers: {
      ...headers,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': CONTENT_SECURITY_POLICY,
    },
    body: refusalPageHtml({ ...page, code: error.code, message: error.message, back: SIGN_IN }),
  };
}
