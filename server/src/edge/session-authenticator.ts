import { allScopes } from '@relay/contract';
import { type Access, effectiveScopes, rolePermissions } from '../domain/access.ts';
import type { Caller } from '../domain/caller.ts';
import { RelayError } from '../domain/relay-error.ts';
import type { OrganizationSnapshot } from '../domain/snapshot.ts';
import type { AuthenticateSession } from './authenticators.ts';
import { demandIntent } from './identity/request-intent.ts';
import type { SessionSecrets } from './identity/session-secrets.ts';
import type { LiveSession, Sessions } from './identity/sessions.ts';

export interface SessionAuthenticatorDeps {
  readonly sessions: Pick<Sessions, 'find'>;
  /** The organization's current snapshot: it includes every revocation confirmed before the call. */
  readonly freshness: (organizationId: string) => Promise<OrganizationSnapshot>;
  readonly secrets: SessionSecrets;
  readonly publicUrl: string;
}

/**
 * The caller of a browser session. The session is read every time and permissions come from the current snapshot, so
 * signing out, revoking, suspending and demoting take effect on the next request.
 */
export function createSessionAuthenticator(deps: SessionAuthenticatorDeps): AuthenticateSession {
  return async (request, { suspendedToo = false } = {}) => {
    const session = await deps.sessions.find(request.headers.cookie);
    if (session === null) throw new RelayError('session_expired');
    demandIntent(deps, session.id, {
      method: request.method,
      header: (name) => {
        const value = request.headers[name];
        return Array.isArray(value) ? value[0] : value;
      },
    });
    if (session.isAdmin) return { ...callerOf(session, ADMINISTRATION), isAdminSession: true };
    return callerOf(session, await memberAccess(deps, session, suspendedToo));
  };
}

/** The operator at the console: all scopes of the implicit organization, including what the playground needs. */
const ADMINISTRATION: Access = { granted: null, permissions: new Set(allScopes), plan: 'self_hosted' };

/** Of a suspended member who may at least sign out. */
const NO_PERMISSIONS: Access['permissions'] = new Set();

async function memberAccess(
  deps: SessionAuthenticatorDeps,
  session: LiveSession,
  suspendedToo: boolean,
): Promise<Access> {
  const snapshot = await deps.freshness(session.organizationId).catch((error: unknown) => {
    // A deleted organization has no members.
    if (error instanceof RelayError && error.code === 'not_found') throw new RelayError('session_expired');
    throw error;
  });
  const member = snapshot.members.get(session.userId);
  if (member === undefined) throw new RelayError('session_expired');
  if (member.status !== 'active' || session.userStatus !== 'active') {
    if (suspendedToo) return { granted: null, permissions: NO_PERMISSIONS, plan: snapshot.plan };
    throw new RelayError('permission_denied', {
      message: 'Your access is suspended. Ask an owner or admin of the organization to restore it.',
    });
  }
  return { granted: null, permissions: rolePermissions[member.role], plan: snapshot.plan };
}

function callerOf(session: LiveSession, access: Access): Caller {
  return {
    organizationId: session.organizationId,
    userId: session.userId,
    keyId: null,
    sessionId: session.id,
    kind: 'session',
    scopes: effectiveScopes(access),
    access,
    keyPolicies: [],
  };
}
