import { allScopes, type ErrorCode, type Scope } from '@relay/contract';

export type RoleName = 'owner' | 'admin' | 'developer' | 'viewer' | 'billing';

const reading: readonly Scope[] = [
  'relay:providers:read',
  'relay:routing:read',
  'relay:guardrails:read',
  'cloud:members:read',
];

/**
 * The permissions of each role. Owner and admin have the same; that only an owner creates, changes or removes an owner is a
 * rule of the members resource.
 */
export const rolePermissions: Readonly<Record<RoleName, ReadonlySet<Scope>>> = {
  owner: new Set(allScopes),
  admin: new Set(allScopes),
  developer: new Set<Scope>([
    'relay:request',
    ...reading,
    'relay:routing:manage',
    'relay:usage:read',
    'cloud:account:manage',
  ]),
  viewer: new Set<Scope>([
    ...reading,
    'relay:limits:read:organization',
    'relay:usage:read',
    'relay:usage:read:organization',
    'cloud:account:manage',
  ]),
  billing: new Set<Scope>([
    'cloud:billing:read',
    'cloud:members:read',
    'relay:usage:read',
    'relay:usage:read:organization',
    'cloud:account:manage',
  ]),
};

export type Counted = 'providers' | 'endpoints' | 'lanes' | 'guardrails' | 'api_keys' | 'members';

/** What an organization is entitled to. */
export interface Plan {
  /** Whether the gateway may be used: without it only account, members and billing are left. */
  readonly productAccess: boolean;
  /** Scopes that the plan does not include, whatever the role. */
  readonly withheld: readonly Scope[];
  /** The maximum number of each resource; null without a maximum. */
  readonly counts: Readonly<Record<Counted, number | null>>;
}

export type PlanName = 'self_hosted' | 'closed' | 'free' | 'team' | 'enterprise';

const unbounded = {
  providers: null,
  endpoints: null,
  lanes: null,
  guardrails: null,
  api_keys: null,
  members: null,
};

/** Single sign-on is in every plan. */
export const plans: Readonly<Record<PlanName, Plan>> = {
  self_hosted: { productAccess: true, withheld: [], counts: unbounded },
  /** An ended subscription: the account can be read and paid, nothing else. */
  closed: { productAccess: false, withheld: [], counts: unbounded },
  free: {
    productAccess: true,
    withheld: ['relay:guardrails:manage', 'cloud:audit:read'],
    counts: { providers: 3, endpoints: 20, lanes: 5, guardrails: 0, api_keys: 10, members: 3 },
  },
  team: {
    productAccess: true,
    withheld: [],
    counts: { providers: 50, endpoints: 500, lanes: 100, guardrails: 50, api_keys: 10_000, members: 200 },
  },
  enterprise: { productAccess: true, withheld: [], counts: unbounded },
};

export function isPlanName(text: string): text is PlanName {
  return Object.hasOwn(plans, text);
}

/** Scopes of the product, as opposed to the account around it. */
function isProductScope(scope: Scope): boolean {
  return scope.startsWith('relay:');
}

/** The parts whose intersection is the effective access. */
export interface Access {
  /** The scopes that the key was created with; null for a caller that is not a key. */
  readonly granted: ReadonlySet<Scope> | null;
  /** The scopes that its owner has now. */
  readonly permissions: ReadonlySet<Scope>;
  readonly plan: PlanName;
}

export function effectiveScopes({ granted, permissions, plan }: Access): Set<Scope> {
  const { productAccess, withheld } = plans[plan];
  const held = allScopes.filter(
    (scope) =>
      permissions.has(scope) &&
      (granted === null || granted.has(scope)) &&
      !withheld.includes(scope) &&
      (productAccess || !isProductScope(scope)),
  );
  return new Set(held);
}

/** The first reason why a scope is not effective, from the widest to the narrowest. */
export function whyAbsent({ granted, permissions, plan }: Access, scope: Scope): ErrorCode {
  const { productAccess, withheld } = plans[plan];
  if (!productAccess && isProductScope(scope)) return 'product_access_denied';
  if (withheld.includes(scope)) return 'entitlement_missing';
  if (granted !== null && !granted.has(scope)) return 'insufficient_scope';
  return permissions.has(scope) ? 'insufficient_scope' : 'permission_denied';
}
