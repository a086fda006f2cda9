import { type Kysely, sql } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import { cookieOf } from './cookies.ts';
import type { SessionSettings } from './deps.ts';
import { digestOfAdminToken, digestOfCookie, isSameText } from './session-secrets.ts';

export const SESSION_COOKIE = 'relay_session';

/** The session of a cookie. */
export interface LiveSession {
  readonly id: string;
  /** The stored digest of the cookie. */
  readonly token: string;
  readonly userId: string;
  readonly userStatus: 'active' | 'invited' | 'suspended';
  readonly organizationId: string;
  /** Opened with the admin token, as the implicit owner of a self-hosted deployment. */
  readonly isAdmin: boolean;
  readonly expiresAt: Date;
}

/** Beyond this number the oldest sessions end, so that the list stays bounded. */
const SESSIONS_PER_USER_MAX = 50;
const EXPIRED_PER_SIGN_IN_MAX = 100;

export interface Sessions {
  /** Reads the database every time, so an ended session fails immediately. */
  find(cookieHeader: string | undefined): Promise<LiveSession | null>;
  /** The active sessions, the newest first. */
  listOf(session: LiveSession): Promise<SessionRow[]>;
}

export type SessionRow = Awaited<ReturnType<typeof rowsOf>>[number];

export function createSessions(settings: SessionSettings): Sessions {
  const { db, secrets, admin } = settings;
  const adminTokens = admin === null ? [] : [admin.token, ...admin.earlierTokens];
  const adminDigests = secrets.accepted.flatMap((secret) =>
    adminTokens.map((token) => digestOfAdminToken(secret, token.reveal())),
  );

  /** Users' sessions need accounts; the admin token's sessions end with the token. */
  function counts(digest: string | null): boolean {
    if (digest === null) return settings.accounts;
    return adminDigests.some((known) => isSameText(digest, known));
  }

  return {
    async find(cookieHeader) {
      const cookie = cookieOf(cookieHeader, SESSION_COOKIE);
      const tokens =
        cookie === null ? [] : secrets.accepted.map((secret) => digestOfCookie(secret, cookie) ?? '');
      if (!tokens.some((token) => token !== '')) return null;
      const row = await db
        .selectFrom('sessions')
        .innerJoin('users', 'users.id', 'sessions.user_id')
        .selectAll('sessions')
        .select('users.status as user_status')
        .where('token', 'in', tokens)
        .where('expires_at', '>', sql<Date>`now()`)
        .executeTakeFirst();
      if (row === undefined || !counts(row.admin_token_digest)) return null;
      return {
        id: row.id,
        token: row.token,
        userId: row.user_id,
        userStatus: row.user_status,
        organizationId: row.organization_id,
        isAdmin: row.admin_token_digest !== null,
        expiresAt: row.expires_at,
      };
    },
    async listOf(session) {
      const rows = await rowsOf(db, session.userId);
      return rows.filter((row) => counts(row.admin_token_digest));
    },
  };
}

function rowsOf(db: Kysely<Database>, userId: string) {
  return db
    .selectFrom('sessions')
    .selectAll()
    .where('user_id', '=', userId)
    .where('expires_at', '>', sql<Date>`now()`)
    .orderBy('id', 'desc')
    .limit(SESSIONS_PER_USER_MAX)
    .execute();
}

/** The deleted row; undefined when the user has no such session. */
export function endSession(db: Kysely<Database>, userId: string, id: string) {
  return db
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .returning(['id', 'organization_id'])
    .executeTakeFirst();
}

export async function endSessions(db: Kysely<Database>, userId: string): Promise<void> {
  await db.deleteFrom('sessions').where('user_id', '=', userId).execute();
}

export async function endOtherSessions(db: Kysely<Database>, userId: string, keptId: string): Promise<void> {
  await db.deleteFrom('sessions').where('user_id', '=', userId).where('id', '!=', keptId).execute();
}

/** Deletes some expired sessions and those beyond the user's maximum: each sign-in removes more than it adds. */
export async function clearSessions(db: Kysely<Database>, userId: string): Promise<void> {
  const expired = db
    .selectFrom('sessions')
    .select('id')
    .where('expires_at', '<=', sql<Date>`now()`)
    .orderBy('expires_at')
    .limit(EXPIRED_PER_SIGN_IN_MAX);
  const excess = db
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', userId)
    .where('expires_at', '>', sql<Date>`now()`)
    .orderBy('id', 'desc')
    .offset(SESSIONS_PER_USER_MAX);
  await db
    .deleteFrom('sessions')
    .where((match) => match.or([match('id', 'in', expired), match('id', 'in', excess)]))
    .execute();
}
