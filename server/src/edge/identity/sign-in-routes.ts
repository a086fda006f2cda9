import type { Session, SessionCreate } from '@relay/contract';
import { demandAccounts } from '../../domain/accounts.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { demandStorable } from '../../domain/storable-fields.ts';
import type { Call, Handlers } from '../../http/call.ts';
import { appendAudit } from '../../store/configuration/audit-log.ts';
import { clearCookie } from './cookies.ts';
import { findHome, noHome, requireActiveAccount } from './find-home.ts';
import { foundOrganization, ownerOf } from './found-organization.ts';
import { answerSession, openSession, sessionCookie } from './open-session.ts';
import type { Parts } from './parts.ts';
import { membershipsOf, type UserRow } from './people.ts';
import { type Credentials, provePassword } from './prove-password.ts';
import { demandOwnOrigin } from './request-intent.ts';
import { actorOf, clientOf, sessionOf } from './session-calls.ts';
import { digestOfAdminToken, isSameText } from './session-secrets.ts';
import { endSession, type LiveSession } from './sessions.ts';

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Signing in and out, and listing the user's sessions. */
export function signInHandlers(parts: Parts): Handlers {
  const { deps } = parts;

  async function end(call: Call<'deleteSession' | 'revokeSession'>, session: LiveSession, id: string) {
    const ended = ID.test(id) ? await endSession(deps.db, session.userId, id) : undefined;
    if (ended === undefined) throw noSuchSession();
    await appendAudit(deps.db, {
      id: deps.newId(),
      organizationId: ended.organization_id,
      actor: actorOf(session),
      requestId: call.requestId,
      action: 'session.delete',
      targetType: 'session',
      targetId: ended.id,
    });
    if (id === session.id) call.setHeader('set-cookie', clearCookie(sessionCookie(deps)));
    return undefined;
  }

  return {
    async createSession(call) {
      demandOwnOrigin(deps.publicUrl, call.header);
      return call.body.token === undefined ? signInWithPassword(parts, call) : signInWithToken(parts, call);
    },
    getSignInMethods: () =>
      Promise.resolve({
        mode: deps.mode,
        token: deps.admin !== null,
        accounts: deps.accounts,
        sso: deps.accounts && deps.oidc !== null,
        sign_up: deps.mode === 'hosted',
        sign_up_link: deps.mode === 'hosted' && deps.mail !== null,
        password_reset: deps.accounts && deps.mail !== null,
      }),
    getSession: async (call) => answerSession(parts, call, await sessionOf(parts, call)),
    async updateSession(call) {
      demandAccounts(parts.deps);
      const session = await sessionOf(parts, call);
      return switchOrganization(parts, call, session, call.body.org_id);
    },
    async deleteSession(call) {
      const session = await sessionOf(parts, call);
      return end(call, session, session.id);
    },
    async listSessions(call) {
      const current = await sessionOf(parts, call);
      const rows = await parts.sessions.listOf(current);
      return rows.map((row) => ({
        id: row.id,
        current: row.id === current.id,
        created_at: row.created_at.toISOString(),
        expires_at: row.expires_at.toISOString(),
        ip_address: row.ip_address,
        user_agent: row.user_agent,
      }));
    },
    revokeSession: async (call) => end(call, await sessionOf(parts, call), call.params.session_id),
  };
}

function noSuchSession(): RelayError {
  return new RelayError('not_found', {
    message: 'You have no session with this ID, or it has ended. GET /api/account/sessions lists yours.',
  });
}

/** The operator of a self-hosted deployment, without an account. */
async function signInWithToken(parts: Parts, call: Call<'createSession'>): Promise<Session> {
  const { admin, secrets } = parts.deps;
  if (admin === null) {
    throw new RelayError('mode_unsupported', {
      message: 'A hosted deployment has no admin token. Sign in with email and password.',
      param: 'token',
    });
  }
  const succeeded = await parts.attempts.take([clientOf(call)]);
  const sent = call.body.token ?? '';
  // Digests have equal length, so the comparison reveals nothing of the token's.
  const digest = (token: string) => digestOfAdminToken(secrets.current, token);
  const isToken = [admin.token, ...admin.earlierTokens].some((token) =>
    isSameText(digest(sent), digest(token.reveal())),
  );
  if (!isToken && admin.codes?.redeem(sent) !== true)
    throw new RelayError('invalid_credentials', {
      message: 'The token doesn’t match RELAY_ADMIN_TOKEN. Copy it from this deployment’s settings.',
    });
  await succeeded();
  const { organizationId, userId } = admin;
  return openSession(parts, call, { userId, organizationId, method: 'admin_token' });
}

async function signInWithPassword(parts: Parts, call: Call<'createSession'>): Promise<Session> {
  const { deps } = parts;
  const credentials = demandCredentials(call.body);
  demandAccounts(deps);
  const { user, method } = await provePassword(parts, call, credentials);
  const { organization_name: name } = call.body;
  if (name !== undefined)
    return openSession(parts, call, { ...(await found(parts, call, user, name)), method });
  const organizationId = await findHome(deps, call.requestId, user, user.email_verified);
  if (organizationId === null) throw noHome(deps.mode === 'hosted');
  return openSession(parts, call, { userId: user.id, organizationId, method });
}

/** An organization of their own, for a user who is in none. */
async function found({ deps, attempts }: Parts, call: Call<'createSession'>, user: UserRow, name: string) {
  if (deps.mode !== 'hosted') {
    throw new RelayError('mode_unsupported', {
      message: 'A self-hosted deployment has one organization. Sign in without `organization_name`.',
      param: 'organization_name',
    });
  }
  requireActiveAccount(user);
  demandStorable({ organization_name: name });
  await attempts.take([{ kind: 'sign_up', of: clientOf(call).of }]);
  return foundOrganization(deps, call.requestId, ownerOf(user), name);
}

function demandCredentials(body: SessionCreate): Credentials {
  const { email, password, totp_code } = body;
  if (email !== undefined && password !== undefined) return { email, password, totp_code };
  throw new RelayError('invalid_request', {
    message: 'Send `email` and `password`, or `token` with the admin token of a self-hosted deployment.',
    param: email === undefined ? 'email' : 'password',
  });
}

export async function switchOrganization(
  parts: Parts,
  call: Pick<Call<'updateSession'>, 'requestId' | 'setHeader'>,
  session: LiveSession,
  organizationId: string,
): Promise<Session> {
  const { deps } = parts;
  const memberships = await membershipsOf(deps.db, session.userId);
  if (!memberships.some((each) => each.organizationId === organizationId)) {
    throw new RelayError('not_found', {
      message:
        'You’re not an active member of an organization with this ID. GET /api/session lists yours under `orgs`.',
      param: 'org_id',
    });
  }
  await deps.db.transaction().execute(async (tx) => {
    await tx
      .updateTable('sessions')
      .set({ organization_id: organizationId, updated_at: new Date(deps.clock.nowMs()) })
      .where('id', '=', session.id)
      .execute();
    await appendAudit(tx, {
      id: deps.newId(),
      organizationId,
      actor: actorOf(session),
      requestId: call.requestId,
      action: 'session.update',
      targetType: 'session',
      targetId: session.id,
      after: { organization_id: organizationId },
    });
  });
  return answerSession(parts, call, { ...session, organizationId });
}
