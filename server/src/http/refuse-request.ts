import type { IncomingMessage, ServerResponse } from 'node:http';
import { endUnread } from './end-unread.ts';
import { type ErrorContext, errorResponse } from './error-response.ts';
import { errorShapeOf } from './inference-route.ts';

/** Answers with the error, in the shape of the protocol that the path belongs to. An answer that has started is broken off. */
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
  const { status, headers, body } = errorResponse(error, context, errorShapeOf(request));
  Object.assign(headers, more);
  headers['content-length'] = String(Buffer.byteLength(body));
  // Reading the rest only to discard it would let unauthenticated clients keep connections busy.
  if (!request.complete) headers['connection'] ??= 'close';
  response.writeHead(status, headers);
  endUnread(request, response, body);
}
