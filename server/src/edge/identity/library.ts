import type { Kysely } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import type { StoreLog } from '../../store/store-log.ts';

export interface LibraryOptions {
  /** Works for the whole deployment: people belong to no organization. */
  readonly db: Kysely<Database>;
  readonly secret: Buffer;
  readonly publicUrl: string;
  readonly newId: () => string;
  readonly sessionMs: number;
  readonly log: Pick<StoreLog, 'warn'>;
}

/** The library reads it from headers that are made up for it; the browser's cookie never reaches it. */
const SESSION_COOKIE = 'library_session';

export type Library = Awaited<ReturnType<typeof loadLibrary>>;

/**
 * The authentication library on our tables. Its router is not mounted: our routes call its functions. It is imported
 * when somebody first signs in, because it costs some 30 MB, and most processes never serve the console.
 */
export async function loadLibrary(options: LibraryOptions) {
  const [{ betterAuth }, { twoFactor }, crypto] = await Promise.all([
    import('better-auth'),
    import('better-auth/plugins/two-factor'),
    import('better-auth/crypto'),
  ]);
  const secret = options.secret.toString('base64url');
  const auth = betterAuth({
    appName: 'Relay',
    baseURL: options.publicUrl,
    // A list, so that no variable of the environment can take the place of the secret.
    secrets: [{ version: 1, value: secret }],
    telemetry: { enabled: false },
    // Its arguments can hold anything, so only the sentence is kept.
    logger: {
      level: 'warn',
      log: (_level, message) => options.log.warn({ library: 'better-auth' }, message),
    },
    database: { db: options.db, type: 'postgres', transaction: true },
    emailAndPassword: { enabled: true },
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
      expiresIn: options.sessionMs / 1_000,
      disableSessionRefresh: true,
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
    advanced: {
      useSecureCookies: false,
      cookies: { session_token: { name: SESSION_COOKIE } },
      database: { generateId: options.newId, validateSchema: false },
    },
    plugins: [
      twoFactor({
        schema: {
          user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
          twoFactor: {
            modelName: 'auth_two_factors',
            fields: {
              userId: 'user_id',
              backupCodes: 'backup_codes',
              failedVerificationCount: 'failed_verification_count',
            },
          },
        },
      }),
    ],
  });

  /** What a function of the library needs to act as the user of a session. */
  async function headersOf(sessionToken: string): Promise<Headers> {
    const signature = await crypto.makeSignature(sessionToken, secret);
    const value = encodeURIComponent(`${sessionToken}.${signature}`);
    return new Headers({ cookie: `${SESSION_COOKIE}=${value}` });
  }

  return { api: auth.api, context: await auth.$context, crypto, headersOf };
}
