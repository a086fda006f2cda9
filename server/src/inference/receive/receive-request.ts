import { digestInSteps } from '../../domain/body-digest.ts';
import { hasHardLimits } from '../../domain/limits/limits.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Clock } from '../../kit/clock.ts';
import type { FairSlices } from '../../kit/fair-slices.ts';
import type { Steps } from '../../kit/slices.ts';
import { AskedRequest } from '../../protocols/asked-request.ts';
import { type InferenceBody, parseWhole } from '../../protocols/request-body.ts';
import { requestSources } from '../../protocols/translate/request-sources.ts';
import type { Exchange } from '../exchange.ts';

/** More than any lane or model name has; the request record keeps no more of what a client sends as a model. */
const MODEL_CHARACTERS_MAX = 200;

export interface ReceiveDeps {
  /** Large bodies are read in slices, in which organizations take turns. */
  readonly slices: FairSlices;
  readonly clock: Clock;
}

/**
 * Answers 400 for a body that the client's protocol does not accept, and 401 for a body other than the one that was signed.
 * (413 is answered while the body is read.)
 */
export async function receiveRequest(
  { slices, clock }: ReceiveDeps,
  exchange: Exchange,
  bytes: Buffer,
): Promise<InferenceBody> {
  const receivedMs = clock.monotonicMs();
  const parsed = slices.run(exchange.caller.organizationId, readSteps(exchange, bytes));
  const body = parsed instanceof Promise ? await parsed : parsed;
  exchange.marks.receivedMs = receivedMs;
  exchange.model = body.model.slice(0, MODEL_CHARACTERS_MAX);
  exchange.streaming = body.streaming;
  const sources = requestSources(exchange.protocol.operation);
  const asked = new AskedRequest(exchange.protocol, body, () => parseWhole(body.bytes, sources));
  exchange.asked = asked;
  if (hasHardLimits(exchange.snapshot, exchange.caller)) {
    const bounding = slices.run(exchange.caller.organizationId, asked.readBound());
    if (bounding instanceof Promise) await bounding;
  }
  return body;
}

/** A signed context is valid for one body. */
function* readSteps({ caller, protocol }: Exchange, bytes: Buffer): Steps<InferenceBody> {
  if (caller.bodyDigest !== undefined && caller.bodyDigest !== (yield* digestInSteps(bytes)))
    throw new RelayError('invalid_context', { internal: 'the body is not the one that was signed' });
  return yield* protocol.request.parse(bytes);
}
