import type { Credential, Endpoint, Membership, Provider } from '@relay/contract';
import type { LimitRow } from './limit-row.ts';

/** What a request of a lane can use: the lane and one of its endpoints. */
export interface LaneReach {
  readonly laneId: string;
  readonly stops: readonly Stop[];
}

interface Stop {
  readonly endpointId: string;
  readonly providerId: string;
  readonly credentialId: string | null;
}

export interface ReachSources {
  readonly memberships: readonly Membership[];
  readonly endpoints: readonly Endpoint[];
  readonly providers: readonly Provider[];
  readonly credentials: readonly Credential[];
}

export function reachOf(laneId: string, sources: ReachSources): LaneReach {
  const members = new Set(
    sources.memberships
      .filter((membership) => membership.lane_id === laneId && membership.enabled)
      .map((membership) => membership.endpoint_id),
  );
  const stops = sources.endpoints
    .filter(({ id }) => members.has(id))
    .map((endpoint) => ({
      endpointId: endpoint.id,
      providerId: endpoint.provider_id,
      credentialId: credentialOf(endpoint, sources),
    }));
  return { laneId, stops };
}

/** The endpoint's credential, or else the provider's oldest; none for a provider without authentication. */
function credentialOf(endpoint: Endpoint, { providers, credentials }: ReachSources): string | null {
  const provider = providers.find(({ id }) => id === endpoint.provider_id);
  if (provider?.auth_mode === 'none') return null;
  if (endpoint.credential_id !== null) return endpoint.credential_id;
  const own = credentials.filter(
    (credential) => credential.enabled && credential.provider_id === endpoint.provider_id,
  );
  own.sort((a, b) => a.created_at.localeCompare(b.created_at));
  return own[0]?.id ?? null;
}

type Place = Pick<LimitRow, 'scope' | 'scopeId'>;

/** Whether a limit applies to a request of the lane. */
export function standsInWay(place: Place, reach: LaneReach): boolean {
  return isOnLane(place, reach) || reach.stops.some((stop) => isOnStop(place, stop));
}

/** Whether every endpoint of the lane is subject to the limit. */
export function holdsUpAll(place: Place, reach: LaneReach): boolean {
  return isOnLane(place, reach) || reach.stops.every((stop) => isOnStop(place, stop));
}

function isOnLane({ scope, scopeId }: Place, { laneId }: LaneReach): boolean {
  return scope === 'global' || (scope === 'lane' && scopeId === laneId);
}

function isOnStop({ scope, scopeId }: Place, { endpointId, providerId, credentialId }: Stop): boolean {
  if (scopeId === null || scope === 'lane') return false;
  if (scope === 'provider') return scopeId === providerId;
  return scopeId === (scope === 'credential' ? credentialId : endpointId);
}
