import { allScopes, type Scope } from '@relay/contract';
import type { Plan, Role } from '../../harness/accounts.ts';

// What roles and plans allow, spelled out independently of the server, so that a mistake there shows as a wrong
// cell.

const readConfiguration: readonly Scope[] = [
  'relay:providers:read',
  'relay:routing:read',
  'relay:guardrails:read',
  'cloud:members:read',
];

export const permissionsOf: Readonly<Record<Role, readonly Scope[]>> = {
  owner: allScopes,
  admin: allScopes,
  /** Sends requests, and builds lanes and endpoints on providers that others manage. */
  developer: [
    ...readConfiguration,
    'relay:request',
    'relay:routing:manage',
    'relay:usage:read',
    'cloud:account:manage',
  ],
  /** Looks at everything but keys, bills and the audit log, and sends nothing. */
  viewer: [
    ...readConfiguration,
    'relay:limits:read:organization',
    'relay:usage:read',
    'relay:usage:read:organization',
    'cloud:account:manage',
  ],
  /** Sees who used how much and what it costs. */
  billing: [
    'cloud:billing:read',
    'cloud:members:read',
    'relay:usage:read',
    'relay:usage:read:organization',
    'cloud:account:manage',
  ],
};

export interface Entitlements {
  /** Without it nothing below `relay:` is left, whatever the role. */
  readonly product: boolean;
  readonly withheld: readonly Scope[];
}

export const entitlementsOf: Readonly<Record<Plan, Entitlements>> = {
  self_hosted: { product: true, withheld: [] },
  closed: { product: false, withheld: [] },
  free: { product: true, withheld: ['relay:guardrails:manage', 'cloud:audit:read'] },
  team: { product: true, withheld: [] },
  enterprise: { product: true, withheld: [] },
};

/** What a key that was asked for with one scope lists. */
export const withImplied: Readonly<Partial<Record<Scope, readonly Scope[]>>> = {
  'relay:providers:manage': ['relay:providers:read'],
  'relay:routing:manage': ['relay:routing:read'],
  'relay:guardrails:manage': ['relay:guardrails:read'],
  'relay:limits:manage': ['relay:limits:read:organization'],
  'relay:usage:read:organization': ['relay:usage:read'],
  'cloud:members:manage': ['cloud:members:read'],
};

export interface Holding {
  /** What the key lists; null for a caller that is not a key. */
  readonly granted: readonly Scope[] | null;
  readonly role: Role;
  readonly plan: Plan;
}

/** Why the scope is not effective, the widest reason first; null when it is. */
export function whyAbsent({ granted, role, plan }: Holding, scope: Scope): string | null {
  const { product, withheld } = entitlementsOf[plan];
  if (!product && scope.startsWith('relay:')) return 'product_access_denied';
  if (withheld.includes(scope)) return 'entitlement_missing';
  if (granted !== null && !granted.includes(scope)) return 'insufficient_scope';
  return permissionsOf[role].includes(scope) ? null : 'permission_denied';
}
