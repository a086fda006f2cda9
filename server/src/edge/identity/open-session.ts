import type { Session } from '@relay/contract';
import { RelayError } from '../../domain/relay-error.ts';
import { appendAudit } from '../../store/configuration/audit-log.ts';
import type { BrowserCall, Proven } from './browser-call.ts';
import { addressOf } from './client-address.ts';
import { type CookieSettings, setCookie } from './cookies.ts';
import { type Parts, SESSION_MS } from './parts.ts';
import { hasPassword } from './passwords.ts';
import { everyMembershipOf, readUser, toUser } from './people.ts';
import { csrfTokenOf, digestOfAdminToken, digestOfCookie, newSessionCookie } from './session-secrets.ts';
import { clearSessions, endSession, type LiveSession, SESSION_COOKIE } from './sessions.ts';
import { noteSignIn } from './sign-in-alert.ts';

const USER_AGENT_CHARACTERS_MAX = 500;

/** The last step of every sign-in: creates the session, its cookie and the audit entry. */
export async function openSession(parts: Parts, call: BrowserCall, proven: Proven): Promise<Session> {
  const { deps } = parts;
  const { context } = await parts.library();
  const cookie = newSessionCookie();
  const isAdmin = proven.method === 'admin_token';
  const earlier = await parts.sessions.find(call.header('cookie'));
  const made = await context.internalAdapter.createSession(
    proven.userId,
    false,
    {
      token: digestOfCookie(deps.secrets.current, cookie) ?? '',
      organizationId: proven.organizationId,
      adminTokenDigest:
        isAdmin && deps.admin !== null
          ? digestOfAdminToken(deps.secrets.current, deps.admin.token.reveal())
          : null,
      ipAddress: addressOf(call),
      userAgent: call.header('user-agent')?.slice(0, USER_AGENT_CHARACTERS_MAX) ?? null,
    },
    true,
  );
  await appendAudit(deps.db, {
    id: deps.newId(),
    organizationId: proven.organizationId,
    actor: { type: isAdmin ? 'admin_token' : 'user', userId: proven.userId },
    requestId: call.requestId,
    action: 'session.create',
    targetType: 'session',
    targetId: made.id,
    after: { method: proven.method, ip_address: addressOf(call) },
  });
  // A browser holds one cookie, so it could no longer end its previous session.
  if (earlier !== null) await endSession(deps.db, earlier.userId, earlier.id);
  await clearSessions(deps.db, proven.userId);
  await noteSignIn(parts, call, proven);
  call.setHeader('set-cookie', setCookie(sessionCookie(deps), cookie, SESSION_MS));
  return answerSession(parts, call, { ...proven, id: made.id, expiresAt: made.expiresAt });
}

export function sessionCookie({ publicUrl }: { readonly publicUrl: string }): CookieSettings {
  return { name: SESSION_COOKIE, path: '/', secure: publicUrl.startsWith('https:') };
}

export async function answerSession(
  { deps }: Pick<Parts, 'deps'>,
  call: Pick<BrowserCall, 'setHeader'>,
  session: Pick<LiveSession, 'id' | 'userId' | 'organizationId' | 'expiresAt'>,
): Promise<Session> {
  const [user, memberships, withPassword] = await Promise.all([
    readUser(deps.db, session.userId),
    everyMembershipOf(deps.db, session.userId),
    hasPassword(deps.db, session.userId),
  ]);
  const current = memberships.find(({ organizationId }) => organizationId === session.organizationId);
  if (current === undefined) throw new RelayError('session_expired');
  call.setHeader('cache-control', 'no-store');
  return {
    user: toUser(user),
    org: { id: current.organizationId, name: current.name },
    role: current.role,
    suspended: !current.isActive || user.status !== 'active',
    orgs: memberships
      .filter(({ isActive }) => isActive)
      .map(({ organizationId, name }) => ({ id: organizationId, name })),
    has_password: withPassword,
    has_second_factor: user.two_factor_enabled,
    csrf_token: csrfTokenOf(deps.secrets.current, session.id),
    expires_at: session.expiresAt.toISOString(),
  };
}
