import type { IncomingMessage, ServerResponse } from 'node:http';
import { endUnread } from './end-unread.ts';
import { type ErrorContext, errorResponse } from './error-response.ts';
import { protocolOf } from './inference-route.ts';

/** Answers with the error; an answer that has begun can only be broken off. */
export function refuseRequest(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  context: ErrorContext,
  more: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, headers, body } = errorResponse(error, context, protocolOf(request)?.errors.body);
  Object.assign(headers, more);
  headers['content-length'] = String(Buffer.byteLength(body));
  // Reading on only to throw the body away would let strangers keep connections busy.
  if (!request.complete) headers['connection'] = 'close';
  response.writeHead(status, headers);
  endUnread(request, response, body);
}
