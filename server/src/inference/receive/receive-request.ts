import { digestOfBody } from '../../domain/body-digest.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { InferenceBody } from '../../protocols/request-body.ts';
import type { Exchange } from '../exchange.ts';

/** More than any lane or model name has; the request record keeps no more of what a client sends as a model. */
const MODEL_CHARACTERS_MAX = 200;

/**
 * Answers 400 for a body that the client's protocol does not accept, and 401 for a body other than the one that was signed.
 * (413 is answered while the body is read.)
 */
export function receiveRequest(exchange: Exchange, bytes: Buffer, nowMs: number): InferenceBody {
  demandSignedBody(exchange, bytes);
  const body = exchange.protocol.request.parse(bytes);
  exchange.marks.receivedMs = nowMs;
  exchange.model = body.model.slice(0, MODEL_CHARACTERS_MAX);
  exchange.streaming = body.streaming;
  return body;
}

/** A signed context is valid for one body. */
function demandSignedBody({ caller }: Exchange, bytes: Buffer): void {
  if (caller.bodyDigest === undefined || caller.bodyDigest === digestOfBody(bytes)) return;
  throw new RelayError('invalid_context', { internal: 'the body is not the one that was signed' });
}
