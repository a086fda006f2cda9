import { Secret } from '../kit/secret.ts';
import type { Guardrail } from './guardrails/guardrail.ts';
import type {
  BudgetPolicy,
  Credential,
  Endpoint,
  Lane,
  LimitPolicy,
  Member,
  Membership,
  OrganizationSnapshot,
  Pricing,
  Provider,
  Team,
} from './snapshot.ts';

/** For tests: configuration in memory, one function per resource; names and slugs equal the ids. */
export function provider(id: string, over: Partial<Provider> = {}): Provider {
  return {
    id,
    name: id,
    slug: id,
    baseUrl: `https://${id}.example.com/v1`,
    authMode: 'bearer_static',
    authHeaderName: null,
    awsRegion: null,
    awsService: null,
    presetSlug: null,
    extraHeaders: null,
    extraQuery: null,
    maxLatencyMs: null,
    healthProbe: 'off',
    enabled: true,
    ...over,
  };
}

export function endpoint(
  id: string,
  providerId: string,
  upstreamModel: string,
  over: Partial<Endpoint> = {},
): Endpoint {
  return {
    id,
    providerId,
    credentialId: null,
    name: id,
    slug: id,
    upstreamModel,
    routeKind: 'multi',
    protocol: 'openai',
    supportsStreaming: true,
    pacing: true,
    maxConcurrency: null,
    contextWindow: null,
    maxLatencyMs: 600_000,
    enabled: true,
    createdAtMs: 0,
    ...over,
  };
}

export function lane(id: string, over: Partial<Lane> = {}): Lane {
  return {
    id,
    name: id,
    slug: id,
    defaultMaxWaitMs: 1_000,
    allowFallback: true,
    holdMs: 2_000,
    selection: 'preferred',
    priority: 'standard',
    hidden: false,
    enabled: true,
    ...over,
  };
}

export function credential(id: string, providerId: string, over: Partial<Credential> = {}): Credential {
  return { id, providerId, enabled: true, createdAtMs: 0, secret: new Secret(id), ...over };
}

function byId<T extends { id: string }>(items: readonly T[]): Map<string, T> {
  return new Map(items.map((item) => [item.id, item]));
}

export function snapshot(parts: {
  providers?: Provider[];
  endpoints?: Endpoint[];
  lanes?: Lane[];
  memberships?: Membership[];
  credentials?: Credential[];
  pricing?: ReadonlyMap<string, Pricing>;
  limitPolicies?: LimitPolicy[];
  guardrails?: Guardrail[];
  members?: readonly Member[];
  userPolicies?: BudgetPolicy[];
  teams?: Team[];
  teamPolicies?: BudgetPolicy[];
}): OrganizationSnapshot {
  return {
    organizationId: 'org',
    version: 1,
    plan: 'self_hosted',
    members: new Map((parts.members ?? []).map((member) => [member.userId, member])),
    userPolicies: Map.groupBy(parts.userPolicies ?? [], ({ subjectId }) => subjectId),
    teams: new Map((parts.teams ?? []).map((team) => [team.id, team])),
    teamPolicies: Map.groupBy(parts.teamPolicies ?? [], ({ subjectId }) => subjectId),
    providers: byId(parts.providers ?? []),
    endpoints: byId(parts.endpoints ?? []),
    lanes: byId(parts.lanes ?? []),
    memberships: parts.memberships ?? [],
    credentials: byId(parts.credentials ?? []),
    pricing: parts.pricing ?? new Map(),
    limitPolicies: parts.limitPolicies ?? [],
    guardrails: parts.guardrails ?? [],
  };
}

export function member(laneId: string, endpointId: string, manualRank: number, enabled = true): Membership {
  return { id: `${laneId}-${endpointId}`, laneId, endpointId, manualRank, enabled };
}
