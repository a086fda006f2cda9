import type { ModelList, ModelObject } from '@relay/contract';
import { RelayError } from '../domain/relay-error.ts';
import {
  isPrepared,
  type Route,
  type RouteMember,
  type RoutingTable,
  routingTableOf,
} from '../domain/routing/routing.ts';
import type { OrganizationSnapshot } from '../domain/snapshot.ts';
import { uuidTimeMs } from '../kit/uuid-time.ts';

/**
 * What clients can call: upstream models of enabled endpoints, and slugs of lanes that are not hidden. An id is listed once
 * and only if a request with it has a candidate.
 */
export function modelList(snapshot: OrganizationSnapshot): ModelList {
  return { object: 'list', data: [...listedModels(snapshot).values()] };
}

/** One listed model, or a model of one provider as `provider-slug/model`. Throws 404. */
export function modelOf(snapshot: OrganizationSnapshot, id: string): ModelObject {
  const found = listedModels(snapshot).get(id) ?? providerModel(routingTableOf(snapshot), id);
  if (found !== null) return found;
  const shown = id.length > 200 ? `${id.slice(0, 200)}…` : id;
  throw new RelayError('not_found', {
    message: `There is no model "${shown}": no upstream model, lane slug or provider/model has this name. GET /v1/models lists what can be called.`,
    param: 'model',
  });
}

// A cache and not state: an entry depends on its key alone and is collected with it.
const lists = new WeakMap<OrganizationSnapshot, ReadonlyMap<string, ModelObject>>();

function listedModels(snapshot: OrganizationSnapshot): ReadonlyMap<string, ModelObject> {
  const known = lists.get(snapshot);
  if (known !== undefined) return known;
  const listed = buildList(routingTableOf(snapshot));
  lists.set(snapshot, listed);
  return listed;
}

function buildList(table: RoutingTable): Map<string, ModelObject> {
  const listed = new Map<string, ModelObject>();
  for (const { id, createdAtMs, ownedBy } of table.models) {
    if (isCallable(table.resolve(id))) listed.set(id, modelObject(id, createdAtMs, ownedBy));
  }
  // A lane named like a model is what a request with that name reaches, so it replaces the model.
  for (const { id, slug, hidden } of table.lanes) {
    if (!hidden && isCallable(table.resolve(slug)))
      listed.set(slug, modelObject(slug, uuidTimeMs(id), 'relay'));
  }
  return listed;
}

function providerModel(table: RoutingTable, id: string): ModelObject | null {
  const route = table.resolve(id);
  if (route === undefined || route.lane !== null) return null;
  const member = route.members.find(isUsable);
  if (member === undefined) return null;
  return modelObject(id, member.candidate.endpoint.createdAtMs, member.candidate.provider.slug);
}

function isCallable(route: Route | undefined): boolean {
  return route?.members.some(isUsable) === true;
}

function isUsable({ membershipEnabled, candidate }: RouteMember): boolean {
  const { endpoint, provider } = candidate;
  return membershipEnabled && endpoint.enabled && provider.enabled && isPrepared(candidate);
}

function modelObject(id: string, createdAtMs: number, ownedBy: string): ModelObject {
  return { id, object: 'model', created: Math.floor(createdAtMs / 1_000), owned_by: ownedBy };
}
