import { limitWords } from '../../domain/limits/limit-words.ts';
import { unpricedBy } from '../../domain/limits/limits.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { type Candidate, type Route, routingTableOf } from '../../domain/routing/routing.ts';
import { type Unfit, type UnpricedBy, unfitness } from '../../domain/routing/unfit.ts';
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
  const unpriced = unpricedFor(exchange, route);
  const candidates: Candidate[] = [];
  for (const member of route.members) {
    if (unfitness(member, asked, body.streaming, unpriced) === null) candidates.push(member.candidate);
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

/** What spend limits say of the candidates of this route. */
export function unpricedFor({ snapshot, caller }: Exchange, route: Route): UnpricedBy {
  return (candidate) => unpricedBy(snapshot, caller, route, candidate);
}

function noRoute(exchange: Exchange, body: InferenceBody, route: Route): RelayError {
  const asked = `${exchange.protocol.operation}${body.streaming ? ' streaming' : ''}`;
  const unpriced = unpricedFor(exchange, route);
  const unfits = route.members.map((member) => ({
    name: member.candidate.endpoint.name,
    unfit: unfitness(member, askedOf(exchange), body.streaming, unpriced),
  }));
  const withoutPrice = unfits.filter(({ unfit }) => unfit?.why === 'unpriced');
  if (withoutPrice.length > 0) return unpricedError(body, withoutPrice);
  const reasons = unfits.map(({ name, unfit }) => `"${name}": ${unfit === null ? 'fit' : unfit.reason}`);
  const why = reasons.length === 0 ? 'the lane has no members' : reasons.slice(0, 10).join('; ');
  return new RelayError('no_route', {
    message: `No candidate of "${body.model}" can take this ${asked} request: ${why}.`,
    param: 'model',
  });
}

function unpricedError(
  { model }: InferenceBody,
  found: readonly { readonly name: string; readonly unfit: Unfit | null }[],
): RelayError {
  const policy = found[0]?.unfit?.policy ?? null;
  const names = found.slice(0, 10).map(({ name }) => `"${name}"`);
  const [have, price] = found.length === 1 ? ['has', 'its price'] : ['have', 'a price for one of them'];
  return new RelayError('unpriced', {
    message: `No candidate of "${model}" has a price, which ${limitWords(policy)} needs: ${names.join(', ')} ${have} none. Set ${price}, or set "unpriced" of the limit to "allow".`,
    param: 'model',
    fields: { policy },
  });
}
