import { headers as names } from '@relay/contract';
import { RelayError } from '../../domain/relay-error.ts';
import { endUnread } from '../../http/end-unread.ts';
import { errorObject, errorResponse } from '../../http/error-response.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Exchange, UpstreamAnswer } from '../exchange.ts';
import { overheadMs } from './response-headers.ts';

/** Passes a whole upstream answer on, byte for byte. `failedStream`: a 200 that carries an error. */
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
  exchange.response.end(answer.body);
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
  const { status, headers, body } = errorResponse(error, context, exchange.protocol.errors.body);
  headers[names.overheadMs] = overheadMs(exchange, deps.clock.monotonicMs());
  headers['content-length'] = String(Buffer.byteLength(body));
  // What is left of an unread body would be taken for the next request, or read only to be thrown away.
  if (!exchange.request.complete) headers['connection'] = 'close';
  response.writeHead(status, headers);
  endUnread(exchange.request, response, body);
}

/** A stream that broke after content was sent ends with this frame and without the protocol's own end. */
export function interruptedFrame(deps: { publicUrl: string }, exchange: Exchange): string {
  const error = new RelayError('stream_interrupted');
  const context = { requestId: exchange.requestId, publicUrl: deps.publicUrl };
  return exchange.protocol.errors.interruptedFrame(errorObject(error, context));
}
