import { parseTargetUrl } from '../../kit/egress/index.ts';
import { entryIn } from '../../kit/entry-in.ts';
import { finish, type Steps, stepsOver } from '../../kit/slices.ts';
import type {
  Credential,
  Endpoint,
  Lane,
  LanePriority,
  LaneSelection,
  Membership,
  OrganizationSnapshot,
  Provider,
} from '../snapshot.ts';
import { authStyles, fitsStyle } from '../upstream-auth.ts';
import {
  callableNames,
  laneMeaning,
  type Meaning,
  modelMeaning,
  providerModelMeaning,
} from './callable-names.ts';
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
  /** How long a stream may be held before its first content, so that the request can still fall back. */
  readonly holdMs: number;
  readonly selection: LaneSelection;
  readonly priority: LanePriority;
  /** Whether the organization has enabled lanes of more than one priority. */
  readonly mixedClasses: boolean;
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

// Requests that name a model are served as in a lane with default settings.
const DEFAULT_MAX_WAIT_MS = 30_000;
const DEFAULT_HOLD_MS = 2_000;

// A cache and not state: an entry depends on its key alone and is collected with it.
const tables = new WeakMap<OrganizationSnapshot, RoutingTable>();

/** Built before the snapshot is used (see `prepare-snapshot.ts`), so that the hot path only looks names up. */
export function routingTableOf(snapshot: OrganizationSnapshot): RoutingTable {
  return tables.get(snapshot) ?? finish(prepareRouting(snapshot));
}

/** Builds the table of a snapshot. `routingTableOf` does not return it before it is complete. */
export function* prepareRouting(snapshot: OrganizationSnapshot): Steps<RoutingTable> {
  const table = yield* buildRoutingTable(snapshot);
  tables.set(snapshot, table);
  return table;
}

/** The credential that is sent with requests to the candidate; null when its provider takes none or no usable one exists. */
export function sentCredential({ provider, credential }: Candidate): Credential | null {
  if (!authStyles[provider.authMode].needsSecret || credential?.secret == null) return null;
  return fitsStyle(provider.authMode, credential.secret) ? credential : null;
}

/** What the provider of the candidate gets to see of the secret, if anything. */
export function sentSecret(candidate: Candidate): string | null {
  const secret = sentCredential(candidate)?.secret ?? null;
  return secret === null ? null : authStyles[candidate.provider.authMode].sentPart(secret);
}

/** Whether requests can be sent to the candidate: its provider takes no credential, or has a usable one. */
export function isPrepared(candidate: Candidate): boolean {
  return !authStyles[candidate.provider.authMode].needsSecret || sentCredential(candidate) !== null;
}

/** In time that grows with the size of the configuration and not with its square: an organization may have 10,000 lanes. */
function* buildRoutingTable(snapshot: OrganizationSnapshot): Steps<RoutingTable> {
  const candidates = yield* candidatesOf(snapshot);
  const lanes = [...snapshot.lanes.values()].filter((lane) => lane.enabled);
  const mixedClasses = new Set(lanes.map(({ priority }) => priority)).size > 1;
  const members = yield* membersByLane(snapshot.memberships, candidates);
  const routes = new Map<Meaning, Route>();
  yield* addModelRoutes(routes, candidates, ({ endpoint }) => modelMeaning(endpoint), mixedClasses);
  const atProvider = ({ endpoint, provider }: Candidate) => providerModelMeaning(endpoint, provider);
  yield* addModelRoutes(routes, candidates, atProvider, mixedClasses);
  yield* stepsOver(lanes, (lane) => {
    routes.set(laneMeaning(lane), { ...laneRoute(lane, members.get(lane.id) ?? []), mixedClasses });
  });
  const models = yield* listModels(candidates);
  const endpoints = new Map<string, Endpoint>();
  yield* stepsOver(candidates.values(), ({ endpoint }) => endpoints.set(endpoint.id, endpoint));
  const names = yield* callableNames({ ...snapshot, endpoints });
  const resolve = (model: string) => {
    const meaning = names.get(model);
    return meaning === undefined ? undefined : routes.get(meaning);
  };
  return { resolve, candidates, models, lanes };
}

function* candidatesOf(snapshot: OrganizationSnapshot): Steps<Map<string, Candidate>> {
  const candidates = new Map<string, Candidate>();
  const targets = new Map<Provider, ReturnType<typeof parseTargetUrl>>();
  const credentialOf = yield* credentialChoice(snapshot);
  const endpoints = [...snapshot.endpoints.values()].sort((a, b) => a.createdAtMs - b.createdAtMs);
  yield* stepsOver(endpoints, (endpoint) => {
    const provider = snapshot.providers.get(endpoint.providerId);
    if (provider === undefined) return;
    const target = entryIn(targets, provider, ({ baseUrl }) => parseTargetUrl(baseUrl));
    // The database guarantees the provider and a valid URL; a row that violates this must not affect the organization's
    // other endpoints.
    if (typeof target === 'string') return;
    // A newer process may have stored a way to authenticate that this one does not know.
    if (!Object.hasOwn(authStyles, provider.authMode)) return;
    const { origin, pathPrefix } = target;
    const credential = credentialOf(endpoint);
    candidates.set(endpoint.id, { endpoint, provider, credential, origin, pathPrefix });
  });
  return candidates;
}

/** A credential belongs to its provider, and so to the provider's origin: no other may be sent there. */
function* credentialChoice({
  credentials,
}: OrganizationSnapshot): Steps<(endpoint: Endpoint) => Credential | null> {
  const defaults = new Map<string, Credential>();
  yield* stepsOver(credentials.values(), (credential) => {
    const known = defaults.get(credential.providerId) ?? credential;
    const chosen = chooseCredential([known, credential], null);
    if (chosen !== null) defaults.set(credential.providerId, chosen);
  });
  return ({ providerId, credentialId }) => {
    if (credentialId === null) return defaults.get(providerId) ?? null;
    const named = credentials.get(credentialId);
    return named?.providerId === providerId ? chooseCredential([named], credentialId) : null;
  };
}

/** A route for each meaning that a candidate has a part in, with all candidates of that meaning, the oldest first. */
function* addModelRoutes(
  routes: Map<Meaning, Route>,
  candidates: ReadonlyMap<string, Candidate>,
  meaningOf: (candidate: Candidate) => Meaning,
  mixedClasses: boolean,
): Steps<void> {
  const membersByMeaning = new Map<Meaning, RouteMember[]>();
  yield* stepsOver(candidates.values(), (candidate) => {
    const members = entryIn(membersByMeaning, meaningOf(candidate), () => []);
    members.push({ candidate, manualRank: members.length, membershipEnabled: true });
  });
  yield* stepsOver(membersByMeaning, ([meaning, members]) => {
    routes.set(meaning, {
      lane: null,
      maxWaitMs: DEFAULT_MAX_WAIT_MS,
      allowFallback: true,
      holdMs: DEFAULT_HOLD_MS,
      selection: 'soonest',
      priority: 'standard',
      mixedClasses,
      members,
    });
  });
}

function* membersByLane(
  memberships: readonly Membership[],
  candidates: ReadonlyMap<string, Candidate>,
): Steps<ReadonlyMap<string, readonly RouteMember[]>> {
  const byLane = new Map<string, RouteMember[]>();
  yield* stepsOver(memberships, ({ laneId, endpointId, manualRank, enabled }) => {
    const candidate = candidates.get(endpointId);
    if (candidate === undefined) return;
    entryIn(byLane, laneId, () => []).push({ candidate, manualRank, membershipEnabled: enabled });
  });
  yield* stepsOver(byLane.values(), (members) => members.sort((a, b) => a.manualRank - b.manualRank));
  return byLane;
}

function laneRoute(lane: Lane, members: readonly RouteMember[]): Omit<Route, 'mixedClasses'> {
  return {
    lane,
    maxWaitMs: lane.defaultMaxWaitMs,
    allowFallback: lane.allowFallback,
    holdMs: lane.holdMs,
    selection: lane.selection,
    priority: lane.priority,
    members,
  };
}

function* listModels(candidates: ReadonlyMap<string, Candidate>): Steps<RoutingTable['models']> {
  const models = new Map<string, RoutingTable['models'][number]>();
  yield* stepsOver(candidates.values(), ({ endpoint, provider }) => {
    const { upstreamModel: id, createdAtMs } = endpoint;
    if (!endpoint.enabled || !provider.enabled || models.has(id)) return;
    models.set(id, { id, createdAtMs, ownedBy: provider.slug });
  });
  return [...models.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}
