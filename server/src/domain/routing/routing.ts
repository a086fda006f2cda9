import { parseTargetUrl } from '../../kit/egress/index.ts';
import type {
  Credential,
  Endpoint,
  Lane,
  LaneSelection,
  OrganizationSnapshot,
  Provider,
} from '../snapshot.ts';
import { authStyles } from '../upstream-auth.ts';
import { chooseCredential } from './choose-credential.ts';

/** An endpoint that may serve a request, with what is needed to send the request there. */
export interface Candidate {
  readonly endpoint: Endpoint;
  readonly provider: Provider;
  readonly credential: Credential | null;
  readonly origin: string;
  readonly pathPrefix: string;
}

/** What a `model` value means: which endpoints may serve it, in order, and under which rules. */
export interface Route {
  /** Null when the name is a model and not a lane. */
  readonly lane: Lane | null;
  readonly maxWaitMs: number;
  readonly allowFallback: boolean;
  readonly selection: LaneSelection;
  /** All members by rank, so that an explanation can say why one is passed over. */
  readonly members: readonly RouteMember[];
}

export interface RouteMember {
  readonly candidate: Candidate;
  readonly manualRank: number;
  readonly membershipEnabled: boolean;
}

export interface RoutingTable {
  resolve(model: string): Route | undefined;
  /** Every endpoint, enabled or not, by id. */
  readonly candidates: ReadonlyMap<string, Candidate>;
  /** Ids that `GET /v1/models` lists: upstream models of enabled endpoints. */
  readonly models: readonly { id: string; createdAtMs: number; ownedBy: string }[];
  readonly lanes: readonly Lane[];
}

// Requests that name a model wait as in a lane with default settings.
const DEFAULT_MAX_WAIT_MS = 30_000;

// A cache and not state: an entry depends on its key alone and is collected with it.
const tables = new WeakMap<OrganizationSnapshot, RoutingTable>();

/** Built once per snapshot: the hot path only looks names up. */
export function routingTableOf(snapshot: OrganizationSnapshot): RoutingTable {
  const known = tables.get(snapshot);
  if (known !== undefined) return known;
  const table = buildRoutingTable(snapshot);
  tables.set(snapshot, table);
  return table;
}

/** The credential that is sent with requests to the candidate; null when its provider takes none or no usable one exists. */
export function sentCredential({ provider, credential }: Candidate): Credential | null {
  return authStyles[provider.authMode].needsSecret && credential?.secret != null ? credential : null;
}

/** The secret that is sent with requests to the candidate, if any. */
export function sentSecret(candidate: Candidate): string | null {
  return sentCredential(candidate)?.secret?.reveal() ?? null;
}

/** Whether requests can be sent to the candidate: its provider takes no credential, or has a usable one. */
export function isPrepared(candidate: Candidate): boolean {
  return !authStyles[candidate.provider.authMode].needsSecret || sentCredential(candidate) !== null;
}

function buildRoutingTable(snapshot: OrganizationSnapshot): RoutingTable {
  const candidates = candidatesOf(snapshot);
  const byModel = new Map<string, Route>();
  const byProviderAndModel = new Map<string, Route>();
  for (const candidate of candidates.values()) {
    const model = candidate.endpoint.upstreamModel;
    addModelMember(byModel, model, candidate);
    addModelMember(byProviderAndModel, `${candidate.provider.slug}/${model}`, candidate);
  }
  // Later entries win, so names of lower precedence are added first.
  const byName = new Map<string, Route>([...byModel, ...byProviderAndModel]);
  const lanes = [...snapshot.lanes.values()].filter((lane) => lane.enabled);
  const laneRoutes = lanes.map((lane) => [lane, laneRoute(snapshot, lane, candidates)] as const);
  for (const [lane, route] of laneRoutes) byName.set(lane.name, route);
  for (const [lane, route] of laneRoutes) byName.set(lane.slug, route);

  return { resolve: (model) => byName.get(model), candidates, models: listModels(candidates), lanes };
}

function candidatesOf(snapshot: OrganizationSnapshot): Map<string, Candidate> {
  const candidates = new Map<string, Candidate>();
  // A credential belongs to its provider, and so to the provider's origin: no other may be sent there.
  const credentials = Map.groupBy(snapshot.credentials.values(), ({ providerId }) => providerId);
  const endpoints = [...snapshot.endpoints.values()].sort((a, b) => a.createdAtMs - b.createdAtMs);
  for (const endpoint of endpoints) {
    const provider = snapshot.providers.get(endpoint.providerId);
    const target = provider === undefined ? 'not_a_url' : parseTargetUrl(provider.baseUrl);
    // The database guarantees the provider and a valid URL; a row that violates this must not affect the organization's
    // other endpoints.
    if (provider === undefined || typeof target === 'string') continue;
    candidates.set(endpoint.id, {
      endpoint,
      provider,
      credential: chooseCredential(credentials.get(endpoint.providerId) ?? [], endpoint.credentialId),
      origin: target.origin,
      pathPrefix: target.pathPrefix,
    });
  }
  return candidates;
}

function laneRoute(snapshot: OrganizationSnapshot, lane: Lane, candidates: Map<string, Candidate>): Route {
  const members: RouteMember[] = [];
  for (const membership of snapshot.memberships) {
    const candidate = candidates.get(membership.endpointId);
    if (membership.laneId !== lane.id || candidate === undefined) continue;
    members.push({ candidate, manualRank: membership.manualRank, membershipEnabled: membership.enabled });
  }
  members.sort((a, b) => a.manualRank - b.manualRank);
  return {
    lane,
    maxWaitMs: lane.defaultMaxWaitMs,
    allowFallback: lane.allowFallback,
    selection: lane.selection,
    members,
  };
}

function addModelMember(routes: Map<string, Route>, name: string, candidate: Candidate): void {
  const known = routes.get(name);
  const members = known === undefined ? [] : [...known.members];
  members.push({ candidate, manualRank: members.length, membershipEnabled: true });
  routes.set(name, {
    lane: null,
    maxWaitMs: DEFAULT_MAX_WAIT_MS,
    allowFallback: true,
    selection: 'soonest',
    members,
  });
}

function listModels(candidates: Map<string, Candidate>): RoutingTable['models'] {
  const models = new Map<string, { id: string; createdAtMs: number; ownedBy: string }>();
  for (const { endpoint, provider } of candidates.values()) {
    if (!endpoint.enabled || !provider.enabled || models.has(endpoint.upstreamModel)) continue;
    models.set(endpoint.upstreamModel, {
      id: endpoint.upstreamModel,
      createdAtMs: endpoint.createdAtMs,
      ownedBy: provider.slug,
    });
  }
  return [...models.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}
