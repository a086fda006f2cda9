import { allScopes, type ErrorCode, type Scope } from '@relay/contract';
import { type Access, effectiveScopes, rolePermissions, whyAbsent } from '../../domain/access.ts';
import type { Caller } from '../../domain/caller.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Standing } from './standing.ts';

type Granting = Pick<Caller, 'access'>;

/**
 * The scopes that the caller may give to a key: those its owner's role and plan permit, and of these the ones
 * that the calling key holds.
 */
export function grantableScopes(caller: Granting, standing: Standing): Scope[] {
  const effective = effectiveScopes(accessOf(caller, standing));
  return allScopes.filter((scope) => effective.has(scope));
}

/** Throws 403 when the caller would give scopes that it does not have. */
export function demandOwnScopes(caller: Granting, standing: Standing, wanted: readonly Scope[]): void {
  demandScopes(accessOf(caller, standing), wanted, {
    insufficient_scope: (names) =>
      `The calling key lacks ${names}, and a key can’t create a broader one. Request fewer scopes, or use a broader key or a browser session.`,
    permission_denied: (names) =>
      `The role "${standing.role}" does not allow ${names}. Request fewer scopes, or ask an owner or admin of the organization for another role.`,
  });
}

/** Throws 403 when the key would get scopes that its owner does not have. */
export function demandScopesOfMember(member: Standing, wanted: readonly Scope[]): void {
  demandScopes({ granted: null, permissions: rolePermissions[member.role], plan: member.plan }, wanted, {
    permission_denied: (names) =>
      `The member's role "${member.role}" does not allow ${names}. Request fewer scopes, or change the role first.`,
  });
}

/**
 * Acting for other members requires a key with all current permissions of its owner: a narrow key must not gain
 * permissions through another member. Permissions that the plan withholds are not required.
 */
export function demandDelegation(caller: Granting, standing: Standing): void {
  const { granted } = caller.access;
  if (granted === null) return;
  const whole = effectiveScopes({ ...accessOf(caller, standing), granted: null });
  const absent = [...whole].filter((scope) => !granted.has(scope));
  if (absent.length === 0) return;
  throw new RelayError('permission_denied', {
    message: `Acting for other members requires a key with all of its owner’s current permissions, and this one lacks ${absent.join(', ')}. Use such a key, or a browser session.`,
    fields: { scopes: absent },
  });
}

/** For a caller that is not a key, such as the admin token, the role of its user is the only bound. */
function accessOf(caller: Granting, standing: Standing): Access {
  return {
    granted: caller.access.granted,
    permissions: rolePermissions[standing.role],
    plan: standing.plan,
  };
}

type Messages = Partial<Record<ErrorCode, (names: string) => string>>;

const PLAN_MESSAGES: Messages = {
  entitlement_missing: (names) =>
    `The organization’s plan doesn’t include ${names}. Request fewer scopes, or change the plan.`,
  product_access_denied: (names) =>
    `The organization’s plan has ended, so no key can have ${names}. Renew the plan first.`,
};

/**
 * Rejects missing scopes. The error has the reason of the first one and names all scopes that are missing for
 * that reason.
 */
function demandScopes(access: Access, wanted: readonly Scope[], messages: Messages): void {
  const held = effectiveScopes(access);
  const absent = wanted.filter((scope) => !held.has(scope));
  const [first] = absent;
  if (first === undefined) return;
  const reason = whyAbsent(access, first);
  const scopes = absent.filter((scope) => whyAbsent(access, scope) === reason);
  const message = { ...PLAN_MESSAGES, ...messages }[reason]?.(scopes.join(', '));
  // The caller's scopes allow this route, so the error must not ask for another scope.
  throw new RelayError(reason === 'insufficient_scope' ? 'permission_denied' : reason, {
    ...(message === undefined ? {} : { message }),
    param: 'scopes',
    fields: { scopes },
  });
}
