import type { KeyObject } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import type { StoreLog } from '../../store/store-log.ts';

export interface LibraryOptions {
  /** The deployment's connection: users are not part of an organization. */
  readonly db: Kysely<Database>;
  readonly secret: KeyObject;
  readonly publicUrl: string;
  readonly newId: () => string;
  readonly sessionMs: number;
  readonly log: Pick<StoreLog, 'warn'>;
}

/** Used only in headers that Relay builds for the library; the browser's cookie never reaches it. */
const SESSION_COOKIE = 'library_session';

export type Library = Awaited<ReturnType<typeof loadLibrary>>;

/**
 * The authentication library on Relay's tables. Its router is not mounted; Relay's routes call its functions. It is imported at
 * the first sign-in, because it costs about 30 MB and most processes never serve the console.
 */
export async function loadLibrary(options: LibraryOptions) {
  const [{ betterAuth }, { twoFactor }, crypto] = await Promise.all([
    import('better-auth'),
    import('better-auth/plugins/two-factor'),
    import('better-auth/crypto'),
  ]);
  const secret = options.secret.export().toString('base64url');
  const auth = betterAuth({
    ...TABLES,
    appName: 'Relay',
    baseURL: options.publicUrl,
    // A list, so that no environment variable can replace the secret.
    secrets: [{ version: 1, value: secret }],
    telemetry: { enabled: false },
    // Only the sentence is logged: the arguments can hold anything.
    logger: {
      level: 'warn',
      log: (_level, message) => options.log.warn({ library: 'better-auth' }, message),
    },
    database: { db: options.db, type: 'postgres', transaction: true },
    emailAndPassword: { enabled: true },
    session: { ...TABLES.session, expiresIn: options.sessionMs / 1_000, disableSessionRefresh: true },
    advanced: {
      useSecureCookies: false,
      cookies: { session_token: { name: SESSION_COOKIE } },
      database: { generateId: options.newId, validateSchema: false },
    },
    plugins: [twoFactor({ schema: TWO_FACTOR_TABLES })],
  });

  /** The headers that make a library function act as the session's user. */
  async function headersOf(sessionToken: string): Promise<Headers> {
    const signature = await crypto.makeSignature(sessionToken, secret);
    const value = encodeURIComponent(`${sessionToken}.${signature}`);
    return new Headers({ cookie: `${SESSION_COOKIE}=${value}` });
  }

  return { api: auth.api, context: await auth.$context, crypto, headersOf };
}

/** Where the library finds its fields in Relay's tables. */
const TABLES = {
  user: {
    modelName: 'users',
    fields: { emailVerified: 'email_verified', createdAt: 'created_at', updatedAt: 'updated_at' },
  },
  session: {
    modelName: 'sessions',
    fields: {
      userId: 'user_id',
      ipAddress: 'ip_address',
      userAgent: 'user_agent',
      expiresAt: 'expires_at',
      createdAt: 'created_at',
      updatedAt: 'updated_at',
    },
    additionalFields: {
      organizationId: { type: 'string', required: true, fieldName: 'organization_id' },
      adminTokenDigest: { type: 'string', required: false, fieldName: 'admin_token_digest' },
    },
  },
  account: {
    modelName: 'auth_accounts',
    fields: {
      userId: 'user_id',
      providerId: 'provider_id',
      accountId: 'account_id',
      createdAt: 'created_at',
      updatedAt: 'updated_at',
    },
  },
} as const;

const TWO_FACTOR_TABLES = {
  user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
  twoFactor: {
    modelName: 'auth_two_factors',
    fields: {
      userId: 'user_id',
      backupCodes: 'backup_codes',
      failedVerificationCount: 'failed_verification_count',
    },
  },
} as const;
