import { headers as names } from '@relay/contract';
import type { RelayError } from '../../domain/relay-error.ts';
import { endUnread } from '../../http/end-unread.ts';
import { errorObject, errorResponse } from '../../http/error-response.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Exchange, UpstreamAnswer } from '../exchange.ts';
import { endWith } from './body-writer.ts';
import { overheadMs } from './response-headers.ts';

/** Sends a complete upstream answer byte for byte, with the provider's status. `failedStream`: a 200 that contains an error. */
export function sendAnswer(
  exchange: Exchange,
  answer: UpstreamAnswer,
  headers: string[],
  failedStream: boolean,
): void {
  if (failedStream) headers.push(names.errorSource, 'upstream');
  if (answer.headers['content-length'] === undefined)
    headers.push('content-length', String(answer.body.length));
  exchange.response.writeHead(answer.status, headers);
  endWith(exchange.response, answer.body);
}

export function sendError(
  deps: { publicUrl: string; clock: Clock },
  exchange: Exchange,
  error: RelayError,
): void {
  const { response } = exchange;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const context = { requestId: exchange.requestId, publicUrl: deps.publicUrl };
  const { status, headers, body } = errorResponse(error, context, exchange.protocol);
  headers[names.overheadMs] = overheadMs(exchange, deps.clock.monotonicMs());
  headers['content-length'] = String(Buffer.byteLength(body));
  // The rest of an unread body would be parsed as the next request.
  if (!exchange.request.complete) headers['connection'] = 'close';
  response.writeHead(status, headers);
  endUnread(exchange.request, response, body);
}

/** Ends a stream that broke after these frames, in place of the protocol's own end. */
export function errorFrame(
  deps: { publicUrl: string },
  exchange: Exchange,
  error: RelayError,
  before: string,
): string {
  const context = { requestId: exchange.requestId, publicUrl: deps.publicUrl };
  return exchange.protocol.errors.interruptedFrame(errorObject(error, context), error.status, before);
}
