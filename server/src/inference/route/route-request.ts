import type { PolicyDescription } from '../../domain/limits/limit.ts';
import { limitWords } from '../../domain/limits/limit-words.ts';
import { unpricedBy } from '../../domain/limits/limits.ts';
import { needsPrice } from '../../domain/limits/needs-price.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { type Candidate, type Route, routingTableOf } from '../../domain/routing/routing.ts';
import { unfitness } from '../../domain/routing/unfit.ts';
import type { InferenceBody } from '../../protocols/request-body.ts';
import { askedOf, type Exchange } from '../exchange.ts';

/**
 * Answers 400: `model_not_found` when nothing has that name, `no_route` when no candidate can serve the request, `unpriced` when those
 * that can have no price that a spend limit needs. There may be no candidates where Relay can answer by its own estimate.
 */
export function routeRequest(
  exchange: Exchange,
  body: InferenceBody,
): { route: Route; candidates: readonly Candidate[] } {
  const route = routingTableOf(exchange.snapshot).resolve(body.model);
  if (route === undefined) throw modelNotFound(body.model);
  exchange.route = route;
  const candidates = fitCandidates(exchange, body, route);
  if (candidates.length === 0 && exchange.protocol.answer.estimated === null)
    throw noRoute(exchange, body, route);
  return { route, candidates };
}

/** Those of the route that can serve the request. */
export function fitCandidates(exchange: Exchange, body: InferenceBody, route: Route): Candidate[] {
  const asked = askedOf(exchange);
  const priceRule = needsPrice(exchange.snapshot, exchange.caller, route);
  const candidates: Candidate[] = [];
  for (const member of route.members) {
    if (unfitness(member, asked, body.streaming, priceRule) === null) candidates.push(member.candidate);
  }
  return candidates;
}

function modelNotFound(model: string): RelayError {
  const shown = model.length > 200 ? `${model.slice(0, 200)}…` : model;
  return new RelayError('model_not_found', {
    message: `Nothing is called "${shown}": no enabled lane has that slug or name, and no endpoint serves it as provider/model or as an upstream model. GET /v1/models lists what can be called.`,
    param: 'model',
  });
}

function noRoute(exchange: Exchange, body: InferenceBody, route: Route): RelayError {
  const asked = `${exchange.protocol.operation}${body.streaming ? ' streaming' : ''}`;
  const { snapshot, caller } = exchange;
  const priceRule = needsPrice(snapshot, caller, route);
  const unfits = route.members.map((member) => ({
    candidate: member.candidate,
    name: member.candidate.endpoint.name,
    unfit: unfitness(member, askedOf(exchange), body.streaming, priceRule),
  }));
  const unpriced = unfits.filter(({ unfit }) => unfit?.why === 'unpriced');
  if (unpriced[0] !== undefined) {
    const policy = unpricedBy(snapshot, caller, route, unpriced[0].candidate);
    const names = unpriced.map(({ name }) => name);
    return unpricedError(body, names, policy);
  }
  const reasons = unfits.map(({ name, unfit }) => `"${name}": ${unfit === null ? 'fit' : unfit.reason}`);
  const why = reasons.length === 0 ? 'the lane has no members' : reasons.slice(0, 10).join('; ');
  return new RelayError('no_route', {
    message: `No candidate of "${body.model}" can take this ${asked} request: ${why}.`,
    param: 'model',
  });
}

function unpricedError(
  { model }: InferenceBody,
  endpoints: readonly string[],
  policy: PolicyDescription | null,
): RelayError {
  const names = endpoints.slice(0, 10).map((name) => `"${name}"`);
  const [have, price] = endpoints.length === 1 ? ['has', 'its price'] : ['have', 'a price for one of them'];
  return new RelayError('unpriced', {
    message: `No candidate of "${model}" has a price, which ${limitWords(policy)} needs: ${names.join(', ')} ${have} none. Set ${price}, or set "unpriced" of the limit to "allow".`,
    param: 'model',
    fields: { policy },
  });
}
