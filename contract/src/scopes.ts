/** Every scope a key can hold. A `manage` scope always implies the `read` scope of the same area. */
export const scopes = {
  'relay:request': 'Send inference requests and list callable models.',
  'relay:providers:read': 'Read providers, credentials (never their secrets) and prices.',
  'relay:providers:manage': 'Create, change, test and delete providers, credentials and prices.',
  'relay:routing:read': 'Read lanes, memberships and endpoints, and explain how a request would be routed.',
  'relay:routing:manage': 'Create, change, test and delete lanes, memberships and endpoints.',
  'relay:guardrails:read': 'Read guardrails, their bindings, verdicts and the presets.',
  'relay:guardrails:manage': 'Create, change, bind, test and delete guardrails.',
  'relay:limits:read:organization': 'Read the limit policies and limit state of the whole organization.',
  'relay:limits:manage': 'Create, change and delete limit policies.',
  'relay:usage:read': 'Read one’s own traffic: requests, series and summaries.',
  'relay:usage:read:organization': 'Read the traffic of the whole organization.',
  'cloud:account:manage': 'Change one’s own account, and create, rename and revoke one’s own keys.',
  'cloud:billing:read': 'Read the billing history.',
  'cloud:members:read': 'Read the members and invitations of the organization.',
  'cloud:members:manage': 'Invite and remove members, and change their roles.',
  'cloud:security:manage': 'Inspect and revoke the keys of the whole organization.',
  'cloud:audit:read': 'Read the audit log of the organization.',
} as const satisfies Record<string, string>;

export type Scope = keyof typeof scopes;

export const allScopes = Object.keys(scopes) as readonly Scope[];

/** What holding a scope grants besides itself. */
const implied: Partial<Record<Scope, readonly Scope[]>> = {
  'relay:providers:manage': ['relay:providers:read'],
  'relay:routing:manage': ['relay:routing:read'],
  'relay:guardrails:manage': ['relay:guardrails:read'],
  'relay:limits:manage': ['relay:limits:read:organization'],
  'relay:usage:read:organization': ['relay:usage:read'],
  'cloud:members:manage': ['cloud:members:read'],
};

export function isScope(value: string): value is Scope {
  return Object.hasOwn(scopes, value);
}

/** The list with everything it implies, without repeats, in the order of the table. A stored key lists this. */
export function expandScopes(list: readonly Scope[]): Scope[] {
  const held = new Set<Scope>();
  for (const scope of list) {
    held.add(scope);
    for (const other of implied[scope] ?? []) held.add(other);
  }
  return allScopes.filter((scope) => held.has(scope));
}
