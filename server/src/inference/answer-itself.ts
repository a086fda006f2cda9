import { headers as names } from '@relay/contract';
import { RelayError } from '../domain/relay-error.ts';
import { requestIdHeaders } from '../http/error-response.ts';
import type { Clock } from '../kit/clock.ts';
import type { InferenceBody } from '../protocols/request-body.ts';
import type { Exchange } from './exchange.ts';
import { overheadMs } from './respond/response-headers.ts';
import type { Ending } from './settle/settle.ts';

/** Answers by Relay's own estimate what no endpoint can be asked, and says so. Nothing is dispatched and nothing is charged. */
export function answerItself(
  { clock }: { readonly clock: Clock },
  exchange: Exchange,
  body: InferenceBody,
): Ending {
  const { protocol, response, requestId } = exchange;
  const said = protocol.answer.estimated?.(body);
  if (said === undefined) throw new RelayError('no_route', { param: 'model' });
  const text = JSON.stringify(said);
  const firstByteMs = clock.monotonicMs();
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    [names.requestId]: requestId,
    ...requestIdHeaders(protocol, requestId),
    [names.overheadMs]: overheadMs(exchange, firstByteMs),
    [names.estimated]: 'true',
  });
  response.end(text);
  return { state: 'completed', status: 200, cause: null, firstByteMs };
}
