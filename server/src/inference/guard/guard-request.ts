import { effectiveGuardrails } from '../../domain/guardrails/effective-guardrails.ts';
import { type GuardedPlace, type Guardrail, hasStage } from '../../domain/guardrails/guardrail.ts';
import type { GuardrailStage } from '../../domain/guardrails/verdict.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Candidate } from '../../domain/routing/routing.ts';
import type { Exchange, RoutedRequest } from '../exchange.ts';
import { ask, type GuardDeps, refusalOf, wasAsked } from './ask.ts';
import { showRequest } from './shown.ts';

/** Bounds the rounds for a configuration that changes faster than guardrails answer. */
const ROUNDS_MAX = 8;

export type Guarded = 'clear' | 'stopped';

/**
 * Answers 400 for a stream, or a protocol without text, when a guardrail applies to any candidate: a client must not avoid a
 * guardrail by the form of its request.
 */
export function demandInspectable(
  exchange: Exchange,
  routed: RoutedRequest,
  candidates: readonly Candidate[],
): void {
  const { guardrails } = exchange.guard.snapshot;
  if (guardrails.length === 0) return;
  const { streaming, protocol } = exchange;
  if (!streaming && protocol.text !== null) return;
  const isGuarded = candidates.some(
    (candidate) => effectiveGuardrails(guardrails, placeOf(routed, candidate)).length > 0,
  );
  if (!isGuarded) return;
  throw protocol.text === null
    ? new RelayError('guardrail_route_kind_unsupported', { param: 'model' })
    : new RelayError('guardrail_streaming_unsupported', { param: 'stream' });
}

/** Answers 403 and 503. Asks global guardrails and the lane's, before any capacity is requested. */
export function guardRequest(
  deps: GuardDeps,
  exchange: Exchange,
  routed: RoutedRequest,
): Guarded | Promise<Guarded> {
  const unasked = unaskedOf(exchange, placeOf(routed, null), 'pre_dispatch');
  return unasked.length === 0 ? 'clear' : askInTurn(deps, exchange, routed, unasked);
}

/**
 * Answers 400, 403 and 503. Asks the candidate's guardrails before a dispatch, and those that became effective since the request
 * arrived.
 */
export function guardDispatch(
  deps: GuardDeps,
  exchange: Exchange,
  routed: RoutedRequest,
  candidates: readonly Candidate[],
  candidate: Candidate,
): Guarded | Promise<Guarded> {
  const newest = deps.newest.of(exchange.guard.snapshot);
  if (!(newest instanceof Promise) && newest.guardrails.length === 0) {
    exchange.guard.snapshot = newest;
    return 'clear';
  }
  return guardWithNewest(deps, exchange, routed, candidates, candidate);
}

/** The guardrails that inspect this candidate's answer. */
export function responseGuardrails(
  exchange: Exchange,
  routed: RoutedRequest,
  candidate: Candidate,
): readonly Guardrail[] {
  return unaskedOf(exchange, placeOf(routed, candidate), 'post_response');
}

async function guardWithNewest(
  deps: GuardDeps,
  exchange: Exchange,
  routed: RoutedRequest,
  candidates: readonly Candidate[],
  candidate: Candidate,
): Promise<Guarded> {
  // The configuration can change while guardrails answer, so the loop ends only when no guardrail is left to ask.
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    exchange.guard.snapshot = await deps.newest.of(exchange.guard.snapshot);
    if (exchange.stopped !== null) return 'stopped';
    demandInspectable(exchange, routed, candidates);
    const unasked = unaskedOf(exchange, placeOf(routed, candidate), 'pre_dispatch');
    if (unasked.length === 0) return 'clear';
    if ((await askInTurn(deps, exchange, routed, unasked)) === 'stopped') return 'stopped';
  }
  throw new RelayError('guardrail_unavailable', { internal: 'no guardrail was left to call' });
}

/** Asks in order; the first refusal ends the request. */
async function askInTurn(
  deps: GuardDeps,
  exchange: Exchange,
  routed: RoutedRequest,
  guardrails: readonly Guardrail[],
): Promise<Guarded> {
  exchange.guard.shown ??= showRequest(exchange, routed);
  for (const guardrail of guardrails) {
    const answer = await ask(deps, exchange, guardrail, exchange.guard.shown);
    if (answer === null) return 'stopped';
    const refusal = refusalOf(guardrail, 'pre_dispatch', answer);
    if (refusal !== null) throw refusal;
  }
  return 'clear';
}

/** A guardrail is asked once for each stage of a request, whatever the number of candidates. */
function unaskedOf(exchange: Exchange, place: GuardedPlace, stage: GuardrailStage): readonly Guardrail[] {
  const { guardrails } = exchange.guard.snapshot;
  if (guardrails.length === 0) return guardrails;
  return effectiveGuardrails(guardrails, place).filter(
    (guardrail) => hasStage(guardrail, stage) && !wasAsked(exchange, guardrail, stage),
  );
}

function placeOf({ route }: RoutedRequest, candidate: Candidate | null): GuardedPlace {
  return {
    laneId: route.lane?.id ?? null,
    candidate:
      candidate === null ? null : { providerId: candidate.provider.id, endpointId: candidate.endpoint.id },
  };
}
