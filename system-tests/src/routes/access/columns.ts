import { randomUUIDv7 } from 'node:crypto';
import { allRoutes, allScopes, type Route, type Scope, scopesOf } from '@relay/contract';
import { IS_LONG } from '@relay/testbed/long-form';
import {
  type Accounts,
  mintKey,
  type Plan,
  publicIdOf,
  type Role,
  spoilChecksum,
} from '../../harness/accounts.ts';
import type { Caller } from './expected.ts';
import { entitlementsOf, permissionsOf, withImplied } from './roles-and-plans.ts';

/** A caller: its organization and what it sends. */
export interface Entry {
  readonly organizationId: string;
  readonly callerId: string;
  readonly headers: Readonly<Record<string, string>>;
  /** If the headers depend on the route. */
  readonly headersFor?: (route: Route) => Readonly<Record<string, string>>;
  /** Distinguishes this caller's objects from others in the same organization. */
  readonly suffix: string;
}

/** A column of the matrix: one caller. */
export interface Column extends Caller {
  readonly name: string;
  /** Which routes the caller is sent to; all of them unless given. */
  readonly routes?: (route: Route) => boolean;
  /** What the caller's key lists on this route, if the column has several keys. */
  readonly grantedFor?: (route: Route) => readonly Scope[];
  readonly enter: (where: { readonly accounts: Accounts; readonly url: string }) => Promise<Entry>;
}

interface KeyColumn extends Omit<Partial<Caller>, 'granted'> {
  readonly granted?: readonly Scope[];
  readonly routes?: NonNullable<Column['routes']>;
  readonly keyState?: 'active' | 'revoked' | 'expired';
  readonly memberStatus?: 'active' | 'suspended';
  /** Where the caller becomes a member; without it, an organization is made for the column. */
  readonly organizationId?: string;
  /** Whose key it is; without it, a member is made for the column. */
  readonly callerId?: string;
  /** The Authorization header, from the key that was made for the column. */
  readonly authorization?: (key: string) => string | undefined;
}

export const newSuffix = () => `-${randomUUIDv7().slice(-12)}`;
const bearer = (key: string) => `Bearer ${key}`;

/** By default an owner's key with every scope, on the largest plan. */
function keyColumn(name: string, setup: KeyColumn): Column {
  const { granted = allScopes, role = 'owner', plan = 'enterprise', authorization = bearer } = setup;
  return {
    ...setup,
    name,
    kind: 'key',
    granted,
    role,
    plan,
    async enter({ accounts }) {
      const organizationId = setup.organizationId ?? (await accounts.addOrganization({ plan }));
      const status = setup.memberStatus ?? 'active';
      const callerId = setup.callerId ?? (await accounts.addMember(organizationId, { role, status }));
      const state = setup.keyState ?? 'active';
      const { key } = await accounts.addKey({ organizationId, userId: callerId, scopes: granted, state });
      const value = authorization(key);
      const headers: Entry['headers'] = value === undefined ? {} : { authorization: value };
      return {
        organizationId,
        callerId,
        headers,
        suffix: setup.organizationId === undefined ? '' : newSuffix(),
      };
    },
  };
}

const wrongSecret = (key: string) => bearer(mintKey(publicIdOf(key)).key);
const missing = '401 missing_api_key';
const invalid = '401 invalid_api_key';

/** All permissions, but a key that is missing, has ended, or belongs to a suspended member. */
const notLetIn: readonly Column[] = [
  keyColumn('no key', { authorization: () => undefined, refused: missing }),
  keyColumn('revoked key', { keyState: 'revoked', refused: '401 revoked_api_key' }),
  keyColumn('expired key', { keyState: 'expired', refused: '401 expired_api_key' }),
  keyColumn('key of a suspended member', { memberStatus: 'suspended', refused: '403 permission_denied' }),
];

/** All permissions, but something that is not a key. */
const withoutKey: readonly Column[] = [
  keyColumn('another scheme', { authorization: (key) => `Basic ${btoa(key)}`, refused: missing }),
  keyColumn('malformed key', { authorization: (key) => bearer(key.slice(0, -1)), refused: invalid }),
  keyColumn('key of another service', { authorization: () => bearer('sk-abc123'), refused: invalid }),
  keyColumn('wrong checksum', { authorization: (key) => bearer(spoilChecksum(key)), refused: invalid }),
  keyColumn('unknown key', { authorization: () => bearer(mintKey().key), refused: invalid }),
  keyColumn('wrong secret', { authorization: wrongSecret, refused: invalid }),
  // A caller without the secret does not learn that the key was revoked.
  keyColumn('revoked key, wrong secret', {
    keyState: 'revoked',
    authorization: wrongSecret,
    refused: invalid,
  }),
];

/** Sends every route for one of the columns, which take turns. The long form sends every route for each. */
function inTurn(columns: readonly Column[]): readonly Column[] {
  if (IS_LONG) return columns;
  return columns.map((column, turn) => ({
    ...column,
    routes: (route) => allRoutes.indexOf(route) % columns.length === turn,
  }));
}

const SCOPES_MAX = Math.max(...allRoutes.map(({ access }) => scopesOf(access).length));

/** Sends each route with the scope that it names at this place, with a key that depends on this scope. */
function scopeColumn(name: string, place: number, grantedOf: (scope: Scope) => readonly Scope[]): Column {
  const scopeOf = (route: Route) => scopesOf(route.access)[place];
  const routes = (route: Route) => scopeOf(route) !== undefined;
  const scopes = new Set(allRoutes.flatMap((route) => scopeOf(route) ?? []));
  return {
    name,
    ...{ kind: 'key', role: 'owner', plan: 'enterprise', granted: [], routes },
    grantedFor: (route) => grantedOf(scopeOf(route) ?? 'relay:request'),
    async enter({ accounts }) {
      const organizationId = await accounts.addOrganization({ plan: 'enterprise' });
      const callerId = await accounts.addMember(organizationId, { role: 'owner' });
      const keys = new Map<Scope | undefined, string>();
      for (const scope of scopes) {
        const key = { organizationId, userId: callerId, scopes: grantedOf(scope) };
        keys.set(scope, (await accounts.addKey(key)).key);
      }
      const headersFor = (route: Route) => ({ authorization: bearer(keys.get(scopeOf(route)) ?? '') });
      return { organizationId, callerId, headers: {}, headersFor, suffix: '' };
    },
  };
}

const onlyScope = (scope: Scope): readonly Scope[] => [scope, ...(withImplied[scope] ?? [])];
const everyOther = (scope: Scope): readonly Scope[] =>
  allScopes.filter((other) => other !== scope && withImplied[other]?.includes(scope) !== true);

/**
 * Each route with a key that has only the route's scope, and with a key that has every other scope. A scope only adds access, so
 * these two show for every pair of scope and route what the pair opens. The long form sends all pairs.
 */
const byScope: readonly Column[] = IS_LONG
  ? allScopes.map((scope) => keyColumn(`scope ${scope}`, { granted: onlyScope(scope) }))
  : Array.from({ length: SCOPES_MAX }).flatMap((_, place) => [
      scopeColumn(`every scope but number ${place + 1} of the route`, place, everyOther),
      scopeColumn(`only scope number ${place + 1} of the route`, place, onlyScope),
    ]);

const byRole = (Object.keys(permissionsOf) as Role[]).map((role) => keyColumn(`role ${role}`, { role }));

/** The callers of all other columns are on the largest plan. */
const smallerPlans = (Object.keys(entitlementsOf) as Plan[]).filter((plan) => plan !== 'enterprise');
const byPlan = smallerPlans.map((plan) =>
  keyColumn(`plan ${plan}`, {
    plan,
    // The plan allows three members; two members and an open invitation use them up.
    ...(plan === 'free' ? { except: { createInvitation: '403 entitlement_missing' } } : {}),
  }),
);

/** A valid key of another organization than the objects' own. */
const otherOrganization = keyColumn('other organization', { foreign: true });

export const hostedColumns: readonly Column[] = [
  ...notLetIn,
  ...inTurn(withoutKey),
  ...byScope,
  ...byRole,
  ...byPlan,
  otherOrganization,
];

/** A hosted deployment has no tokens, even where they are still set in its environment. */
export function strayTokenColumns(tokens: DeploymentTokens): readonly Column[] {
  const columns = Object.entries(tokens).map(([name, token]) =>
    keyColumn(`${name} token of the environment`, { authorization: () => bearer(token), refused: invalid }),
  );
  return inTurn(columns);
}

export interface DeploymentTokens {
  readonly api: string;
  readonly admin: string;
}

/** Who the tokens of a deployment act for. */
export interface ImplicitOwner {
  readonly organizationId: string;
  readonly callerId: string;
}

/** Self-hosted: one token for inference and one for management, neither valid for the other. */
export function tokenColumns(tokens: DeploymentTokens, owner: ImplicitOwner): readonly Column[] {
  const token = (
    name: string,
    value: string,
    { granted, refused }: { granted: readonly Scope[]; refused: NonNullable<Caller['refused']> },
  ): Column => ({
    name,
    kind: 'deployment_token',
    granted,
    refused,
    role: 'owner',
    plan: 'self_hosted',
    enter: () =>
      Promise.resolve({ ...owner, headers: { authorization: bearer(value) }, suffix: newSuffix() }),
  });
  const administration = allScopes.filter((scope) => scope !== 'relay:request');
  return [
    token('API token', tokens.api, { granted: ['relay:request'], refused: { management: invalid } }),
    token('admin token', tokens.admin, { granted: administration, refused: { inference: invalid } }),
    token('half of a token', tokens.admin.slice(0, -1), { granted: [], refused: invalid }),
  ];
}

/** Keys of the same holder that are none, or no longer. */
function endedColumns(holder: KeyColumn): readonly Column[] {
  return [
    keyColumn('no key', { ...holder, authorization: () => undefined, refused: missing }),
    keyColumn('revoked key', { ...holder, keyState: 'revoked', refused: '401 revoked_api_key' }),
    ...inTurn([
      keyColumn('expired key', { ...holder, keyState: 'expired', refused: '401 expired_api_key' }),
      keyColumn('unknown key', { ...holder, authorization: () => bearer(mintKey().key), refused: invalid }),
    ]),
  ];
}

/** With accounts, members of the organization have keys. */
export function memberColumns({ organizationId }: ImplicitOwner): readonly Column[] {
  const member = { organizationId, plan: 'self_hosted' } as const;
  return [
    ...endedColumns(member),
    keyColumn('key of an owner', member),
    keyColumn('key of a developer', { ...member, role: 'developer' }),
    keyColumn('key with one scope', {
      ...member,
      granted: ['relay:limits:manage', 'relay:limits:read:organization'],
    }),
  ];
}

/** Without accounts, only the implicit owner has keys, whatever the database holds. */
export function ownerColumns(implicit: ImplicitOwner): readonly Column[] {
  const owner = { ...implicit, plan: 'self_hosted' } as const;
  const { organizationId, plan } = owner;
  return [
    ...endedColumns(owner),
    keyColumn('key of the implicit owner', owner),
    keyColumn('key with one scope', {
      ...owner,
      granted: ['relay:limits:manage', 'relay:limits:read:organization'],
    }),
    keyColumn('key of another owner', { organizationId, plan, refused: invalid }),
  ];
}
