import type { WireProtocol } from '@relay/contract';
import { RelayError } from '../domain/relay-error.ts';
import {
  isPrepared,
  type Route,
  type RouteMember,
  type RoutingTable,
  routingTableOf,
} from '../domain/routing/routing.ts';
import type { Endpoint, OrganizationSnapshot } from '../domain/snapshot.ts';
import { entryIn } from '../kit/entry-in.ts';
import { uuidTimeMs } from '../kit/uuid-time.ts';
import { allProtocols } from '../protocols/index.ts';
import { passageTo } from '../protocols/passage.ts';
import type { ListedModel } from '../protocols/protocol.ts';

/**
 * What clients of the family can call: upstream models of enabled endpoints, and slugs of lanes that are not hidden. An id is listed once
 * and only if a request with it has a candidate.
 */
export function modelList(snapshot: OrganizationSnapshot, family: WireProtocol): readonly ListedModel[] {
  return [...listedModels(snapshot, family).values()];
}

/** One listed model, or a model of one provider as `provider-slug/model`. Throws 404. */
export function modelOf(snapshot: OrganizationSnapshot, family: WireProtocol, id: string): ListedModel {
  const found = listedModels(snapshot, family).get(id) ?? providerModel(routingTableOf(snapshot), family, id);
  if (found !== null) return found;
  throw new RelayError('not_found', { message: namesNothing(snapshot, family, id), param: 'model' });
}

/** Enough for a small configuration, and short enough to be read in a log. */
const NAMED_MAX = 5;

/** Says that nothing has this name, and what can be called instead: lanes first, because they are what the operator made for clients. */
export function namesNothing(snapshot: OrganizationSnapshot, family: WireProtocol, name: string): string {
  const shown = name.length > 200 ? `${name.slice(0, 200)}…` : name;
  const ofFamilies = callable.get(snapshot) ?? new Map<WireProtocol, string>();
  callable.set(snapshot, ofFamilies);
  return `No lane or model is named "${shown}". ${entryIn(ofFamilies, family, () => callableWords(snapshot, family))}`;
}

// A cache like `lists`: a client may repeat a wrong name, and the list may have 10,000 entries.
const callable = new WeakMap<OrganizationSnapshot, Map<WireProtocol, string>>();

function callableWords(snapshot: OrganizationSnapshot, family: WireProtocol): string {
  const listed = modelList(snapshot, family);
  const isLane = ({ ownedBy }: ListedModel) => ownedBy === LANE_OWNER;
  const names = [...listed.filter(isLane), ...listed.filter((each) => !isLane(each))].map(({ id }) => id);
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : '';
  if (names.length === 0) return 'Nothing can be called yet: create a lane with an endpoint.';
  return `You can call ${names.slice(0, NAMED_MAX).join(', ')}${more} (GET /v1/models).`;
}

const LANE_OWNER = 'relay';

// A cache and not state: an entry depends on its key alone and is collected with it.
const lists = new WeakMap<OrganizationSnapshot, Map<WireProtocol, ReadonlyMap<string, ListedModel>>>();

function listedModels(
  snapshot: OrganizationSnapshot,
  family: WireProtocol,
): ReadonlyMap<string, ListedModel> {
  const ofFamilies = lists.get(snapshot) ?? new Map<WireProtocol, ReadonlyMap<string, ListedModel>>();
  lists.set(snapshot, ofFamilies);
  return entryIn(ofFamilies, family, () => buildList(routingTableOf(snapshot), family));
}

function buildList(table: RoutingTable, family: WireProtocol): Map<string, ListedModel> {
  const listed = new Map<string, ListedModel>();
  for (const { id, createdAtMs, ownedBy } of table.models) {
    if (isCallable(table.resolve(id), family)) listed.set(id, { id, createdAtMs, ownedBy });
  }
  // A lane named like a model is what a request with that name reaches, so it replaces the model.
  for (const { id, slug, hidden } of table.lanes) {
    if (!hidden && isCallable(table.resolve(slug), family))
      listed.set(slug, { id: slug, createdAtMs: uuidTimeMs(id), ownedBy: LANE_OWNER });
  }
  return listed;
}

function providerModel(table: RoutingTable, family: WireProtocol, id: string): ListedModel | null {
  const route = table.resolve(id);
  if (route === undefined || route.lane !== null) return null;
  const member = route.members.find((each) => isUsable(each, family));
  if (member === undefined) return null;
  const { endpoint, provider } = member.candidate;
  return { id, createdAtMs: endpoint.createdAtMs, ownedBy: provider.slug };
}

function isCallable(route: Route | undefined, family: WireProtocol): boolean {
  return route?.members.some((member) => isUsable(member, family)) === true;
}

function isUsable({ membershipEnabled, candidate }: RouteMember, family: WireProtocol): boolean {
  const { endpoint, provider } = candidate;
  const isEnabled = membershipEnabled && endpoint.enabled && provider.enabled;
  return isEnabled && isReached(endpoint, family) && isPrepared(candidate);
}

function isReached(endpoint: Endpoint, family: WireProtocol): boolean {
  return allProtocols.some((client) => client.family === family && passageTo(client, endpoint) !== undefined);
}
