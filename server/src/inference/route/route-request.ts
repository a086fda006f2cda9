import { capitalized } from '@relay/contract/words';
import type { Limit } from '../../domain/limits/limit.ts';
import { limitRules } from '../../domain/limits/limit-rules.ts';
import { limitWords } from '../../domain/limits/limit-words.ts';
import { hardLimitAt, unpricedBy } from '../../domain/limits/limits.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { type Candidate, type Route, routingTableOf } from '../../domain/routing/routing.ts';
import { fitCandidates, unfitness, unpricedFix } from '../../domain/routing/unfit.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { InferenceBody } from '../../protocols/request-body.ts';
import { askedOf, type Exchange } from '../exchange.ts';
import { namesNothing } from '../model-list.ts';

/**
 * Answers 400: `model_not_found` when nothing has that name, `no_route` when no candidate can serve the request, `unpriced` when those
 * that can have no price that a spend limit needs, `unbounded_request` when a hard limit applies and nothing bounds what it uses. There may be no candidates where Relay can answer by its own estimate.
 */
export function routeRequest(
  exchange: Exchange,
  body: InferenceBody,
): { route: Route; candidates: readonly Candidate[] } {
  const route = routingTableOf(exchange.snapshot).resolve(body.model);
  if (route === undefined) {
    const message = namesNothing(exchange.snapshot, exchange.protocol.family, body.model);
    throw new RelayError('model_not_found', { message, param: 'model' });
  }
  exchange.route = route;
  const candidates = candidatesFor(exchange, body, route);
  if (candidates.length === 0 && exchange.protocol.answer.estimated === null)
    throw noRoute(exchange, body, route);
  return { route, candidates };
}

/** Those of the route that can serve the request. */
export function candidatesFor(exchange: Exchange, body: InferenceBody, route: Route): Candidate[] {
  const rules = limitRules(exchange.snapshot, exchange.caller, route);
  return fitCandidates(route.members, askedOf(exchange), body.streaming, rules);
}

function noRoute(exchange: Exchange, body: InferenceBody, route: Route): RelayError {
  const asked = `${body.streaming ? 'streaming ' : ''}${exchange.protocol.operation}`;
  const { snapshot, caller } = exchange;
  const rules = limitRules(snapshot, caller, route);
  const unfits = route.members.map((member) => ({
    candidate: member.candidate,
    name: member.candidate.endpoint.name,
    unfit: unfitness(member, askedOf(exchange), body.streaming, rules),
  }));
  const unpriced = unfits.filter(({ unfit }) => unfit?.why === 'unpriced');
  if (unpriced[0] !== undefined) {
    const limit = unpricedBy(snapshot, caller, route, unpriced[0].candidate);
    const names = unpriced.map(({ name }) => name);
    return unpricedError(body, names, limit, snapshot);
  }
  const unbounded = unfits.find(({ unfit }) => unfit?.why === 'unbounded');
  if (unbounded !== undefined) return unboundedError(exchange, route, unbounded.candidate);
  const reasons = unfits.map(({ name, unfit }) => `"${name}": ${unfit === null ? 'fit' : unfit.reason}`);
  const why = reasons.length === 0 ? 'the lane has no endpoints' : reasons.slice(0, 10).join('; ');
  return new RelayError('no_route', {
    message: `No candidate for "${body.model}" can serve this ${asked} request: ${why}.`,
    param: 'model',
    fields: exchange.protocol.errors.unserved(body.settings),
  });
}

function unboundedError(exchange: Exchange, route: Route, candidate: Candidate): RelayError {
  const { snapshot, caller } = exchange;
  const field = askedOf(exchange).unboundedAt(candidate.endpoint);
  const policy = hardLimitAt(snapshot, caller, route, candidate);
  return new RelayError('unbounded_request', {
    message: `"${field}" makes the usage of this request unbounded, and ${limitWords(policy, snapshot)} is a hard limit. Remove the field, or set "context_window" on the endpoint "${candidate.endpoint.name}".`,
    param: field,
    fields: { policy },
  });
}

function unpricedError(
  { model }: InferenceBody,
  endpoints: readonly string[],
  limit: Limit | null,
  snapshot: OrganizationSnapshot,
): RelayError {
  const policy = limit?.described ?? null;
  const names = endpoints.slice(0, 10).map((name) => `"${name}"`);
  const price = endpoints.length === 1 ? 'its price' : 'a price for one of them';
  return new RelayError('unpriced', {
    message: `${capitalized(limitWords(policy, snapshot))} applies, and no candidate for "${model}" has a price (${names.join(', ')}). ${unpricedFix(price, limit?.applied.hard === true)}.`,
    param: 'model',
    fields: { policy },
  });
}
