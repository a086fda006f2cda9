import { resourceScopes } from './resource-list.ts';

/** Every scope a key can hold. A `manage` scope always implies the `read` scope of the same area. */
export const scopes = {
  'relay:request': 'Send inference requests and list callable models.',
  ...resourceScopes,
  'relay:usage:read': 'Read your own requests and usage.',
  'relay:usage:read:organization': 'Read the requests and usage of the whole organization.',
  'cloud:account:manage': 'Change your own account, and create, rename and revoke your own keys.',
  'cloud:billing:read': 'Read the billing history.',
  'cloud:members:read': 'Read the members and invitations of the organization.',
  'cloud:members:manage': 'Invite and remove members, and change their roles.',
  'cloud:security:manage': 'Inspect and revoke the keys of the whole organization.',
  'cloud:audit:read': 'Read the audit log of the organization.',
} as const satisfies Record<string, string>;

export type Scope = keyof typeof scopes;

export const allScopes: readonly Scope[] = Object.keys(scopes).filter(isScope);

export function isScope(value: string): value is Scope {
  return Object.hasOwn(scopes, value);
}

/** Adds implied scopes, without duplicates, in table order. Stored keys hold the expanded list. */
export function expandScopes(list: readonly Scope[]): Scope[] {
  return allScopes.filter((scope) => list.some((held) => held === scope || implies(held, scope)));
}

/** `area:manage` implies every read of its area, and a read of the whole organization the read of one's own. */
function implies(held: Scope, other: Scope): boolean {
  if (held.endsWith(':manage')) return `${other}:`.startsWith(held.replace(/manage$/, 'read:'));
  return held === `${other}:organization`;
}
