import { type Access, type Route, type RouteId, scopesOf } from '@relay/contract';
import { type Holding, permissionsOf, whyAbsent } from './roles-and-plans.ts';

/** Who calls, as far as the answer depends on it. */
export interface Caller extends Holding {
  /** The response to a caller without any access, for everything that is not public; by plane where it differs. */
  readonly refused?: string | { readonly inference?: string; readonly management?: string };
  /** The answer to everything that is neither public nor a read. */
  readonly refusedWrites?: string;
  readonly kind: 'key' | 'session' | 'deployment_token';
  /** The objects named in the request belong to another organization. */
  readonly foreign?: boolean;
  /** Cells of this column that differ from the rules below, each with its reason. */
  readonly except?: Partial<Record<RouteId, string>>;
}

export type Mode = 'hosted' | 'self_hosted' | 'self_hosted_without_accounts';

/** What the route answers once the caller is let in, where that is not the success of the contract. */
const answers: Partial<Record<RouteId, string>> = {
  /** The deployments of the matrix have no billing. */
  receiveStripeEvent: '403 mode_unsupported',
  /** The sample is of no plan. */
  applyPrices: '412 version_conflict',
  createSession: '400 invalid_request',
  requestSignUp: '400 invalid_request',
  signUp: '400 invalid_request',
  acceptInvitation: '400 invalid_request',
  requestPasswordReset: '400 invalid_request',
  confirmPasswordReset: '400 invalid_request',
};

/** Further members, which exist only with accounts. */
const accountWrites: readonly RouteId[] = [
  'leaveOrganization',
  'updateMember',
  'removeMember',
  'createInvitation',
  'deleteInvitation',
];

/** The deployments of the matrix have no identity provider. */
const withoutSingleSignOn = { startSso: '403 mode_unsupported', finishSso: '403 mode_unsupported' };

const modes: Readonly<Record<Mode, Partial<Record<RouteId, string>>>> = {
  hosted: {
    ...withoutSingleSignOn,
    listLimitPolicies: '403 mode_unsupported',
    createLimitPolicy: '403 mode_unsupported',
    getLimitPolicy: '403 mode_unsupported',
    updateLimitPolicy: '403 mode_unsupported',
    deleteLimitPolicy: '403 mode_unsupported',
  },
  self_hosted: withoutSingleSignOn,
  self_hosted_without_accounts: Object.fromEntries(
    [...accountWrites, 'startSso', 'finishSso'].map((route) => [route, '403 accounts_disabled']),
  ),
};

/** Team delegation: a key for these carries all of its owner's permissions, not only the route's scope. */
const delegation: readonly RouteId[] = ['updateMember', 'createInvitation', 'createOrgApiKey'];

/** Bodies and queries that name an object of another organization: 404, like one in the path. */
const foreignBody: readonly RouteId[] = [
  'createOrgApiKey',
  'createCredential',
  'createEndpoint',
  'createMembership',
  'createPricingPolicy',
  'getModelFacts',
  'upsertUserLimitPolicy',
  'upsertApiKeyLimitPolicy',
  'upsertTeamLimitPolicy',
];

/** The status, and the code of an error: `200`, `403 insufficient_scope`. */
export function expectedAnswer(route: Route, caller: Caller, mode: Mode): string {
  const open = answers[route.id] ?? String(route.success.status);
  if (route.access === 'public') return modes[mode][route.id] ?? open;
  const refused = refusalOf(caller, route);
  if (refused !== undefined) return refused;
  const special = caller.except?.[route.id];
  if (special !== undefined) return special;
  if (route.access === 'session_only' && caller.kind !== 'session') return '403 permission_denied';
  const closed = whyClosed(route.access, caller);
  if (closed !== null) return `403 ${closed}`;
  const inMode = modes[mode][route.id];
  if (inMode !== undefined) return inMode;
  if (delegation.includes(route.id) && !holdsEverything(caller)) return '403 permission_denied';
  const isForeign = foreignBody.includes(route.id) || namesObject(route);
  if (caller.foreign === true) return isForeign ? '404 not_found' : open;
  return open;
}

function refusalOf({ refused, refusedWrites }: Caller, route: Route): string | undefined {
  if (refusedWrites !== undefined && route.method !== 'GET') return refusedWrites;
  if (typeof refused === 'string' || refused === undefined) return refused;
  return route.plane === 'inference' ? refused.inference : refused.management;
}

/** The reason of the first scope that is missing; of a choice of scopes, none may be missing all. */
function whyClosed(access: Access, caller: Caller): string | null {
  const reasons = scopesOf(access).map((scope) => whyAbsent(caller, scope));
  const anyIsEnough = typeof access === 'object' && 'scopes' in access;
  if (anyIsEnough && reasons.includes(null)) return null;
  return reasons.find((reason) => reason !== null) ?? null;
}

function holdsEverything({ kind, granted, role, plan }: Caller): boolean {
  if (kind !== 'key' || granted === null) return true;
  const may = permissionsOf[role].filter((scope) => whyAbsent({ granted: null, role, plan }, scope) === null);
  return may.every((scope) => granted.includes(scope));
}

function namesObject(route: Route): boolean {
  // A model is called by its name, which several organizations may use.
  if (route.plane === 'inference') return false;
  return route.params !== undefined || (route.path.endsWith('limit-policies') && route.method === 'DELETE');
}
