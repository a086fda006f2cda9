import { RelayError } from '../domain/relay-error.ts';
import { type Candidate, sentSecret } from '../domain/routing/routing.ts';
import { verdictOfStatus } from '../domain/routing/upstream-verdict.ts';
import type { Clock } from '../kit/clock.ts';
import { type AttemptResult, type Exchange, heldAnswer, isFailure, type RoutedRequest } from './exchange.ts';
import { sendAnswer } from './respond/answer.ts';
import { cleanAnswer } from './respond/clean-answer.ts';
import { responseHeaders } from './respond/response-headers.ts';
import type { Ending } from './settle/settle.ts';
import { faultError, rejectionError } from './upstream-error.ts';

/** A result that was not delivered yet. */
export type HeldResult = Extract<AttemptResult, { kind: 'answer' | 'failure' }>;

const UNREADABLE = { code: 'upstream_invalid_response', why: 'its error has an unknown encoding' } as const;

/**
 * Sends the last result: the provider's own answer, or 502 when there is none or when it concerns Relay's own credential or
 * address.
 */
export async function answerWith(
  deps: { readonly clock: Clock },
  exchange: Exchange,
  routed: RoutedRequest,
  candidate: Candidate,
  last: HeldResult,
): Promise<Ending> {
  const said = heldAnswer(last);
  if (said === null) throw faultOf(exchange, candidate, last);
  const { rejects } = verdictOfStatus(said.status);
  if (rejects !== null) throw rejectionError(exchange, candidate, rejects, said.status);
  const failed = last.kind === 'failure' || isFailure(said.status);
  const answer = failed ? await cleanAnswer(said, sentSecret(candidate)) : said;
  if (answer === null) throw faultError(exchange, candidate, UNREADABLE);
  const firstByteMs = deps.clock.monotonicMs();
  const isReported = last.metered.reported !== null;
  const headers = responseHeaders(exchange, routed, candidate, answer, isReported, firstByteMs);
  sendAnswer(exchange, answer, headers, last.kind === 'failure' && !isFailure(answer.status));
  return {
    state: failed ? 'failed' : 'completed',
    status: answer.status,
    cause: failed ? (exchange.attempts.at(-1)?.cause ?? null) : null,
    firstByteMs,
  };
}

function faultOf(exchange: Exchange, candidate: Candidate, last: HeldResult): RelayError {
  if (last.kind === 'failure') return faultError(exchange, candidate, last.fault);
  return new RelayError('internal_error', { internal: 'a response without a body' });
}
