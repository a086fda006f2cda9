import type { Access as AccessTo } from './route-definition.ts';
import type { Scope } from './scopes.ts';

export type Access = AccessTo<Scope>;

/** Whether these effective scopes open the route. It says nothing about whether the caller is authenticated. */
export function scopesSatisfy(access: Access, held: ReadonlySet<Scope>): boolean {
  if (typeof access === 'string') return true;
  if ('scope' in access) return held.has(access.scope);
  if ('scopes' in access) return access.scopes.some((scope) => held.has(scope));
  return access.everyScope.every((scope) => held.has(scope));
}

/** The scopes an access names, for error messages and the reference. */
export function scopesOf(access: Access): readonly Scope[] {
  if (typeof access === 'string') return [];
  if ('scope' in access) return [access.scope];
  return 'scopes' in access ? access.scopes : access.everyScope;
}
