import type { KeyObject } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Database } from '../../store/postgres/schema.ts';
import type { StoreLog } from '../../store/store-log.ts';
import type { SessionSecrets } from './session-secrets.ts';

export interface LibraryOptions {
  /** The deployment's connection: users are not part of an organization. */
  readonly db: Kysely<Database>;
  readonly secrets: SessionSecrets;
  readonly publicUrl: string;
  readonly newId: () => string;
  readonly sessionMs: number;
  readonly log: Pick<StoreLog, 'warn'>;
}

/** Used only in headers that Relay builds for the library; the browser's cookie never reaches it. */
const SESSION_COOKIE = 'library_session';

export type Library = Awaited<ReturnType<typeof loadLibrary>>;

/** Loads the library once for each secret: what it seals is under the one that is in use. */
export function createLibraryLoader(options: LibraryOptions): () => Promise<Library> {
  const loaded = new Map<KeyObject, Promise<Library>>();
  return () => {
    const { current } = options.secrets;
    const library = loaded.get(current) ?? loadLibrary(options, current);
    loaded.set(current, library);
    library.catch(() => loaded.delete(current));
    return library;
  };
}

/**
 * The authentication library on Relay's tables. Its router is not mounted; Relay's routes call its functions. It is imported at
 * the first sign-in, because it costs about 30 MB and most processes never serve the console.
 */
async function loadLibrary(options: LibraryOptions, current: KeyObject) {
  const [{ betterAuth }, { twoFactor }, crypto] = await Promise.all([
    import('better-auth'),
    import('better-auth/plugins/two-factor'),
    import('better-auth/crypto'),
  ]);
  const secret = textOf(current);
  const auth = betterAuth({
    ...TABLES,
    appName: 'Relay',
    baseURL: options.publicUrl,
    // A list, so that no environment variable can replace the secret.
    secrets: [{ version: SECRET_VERSION, value: secret }],
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

  const openedUnder = (each: KeyObject, sealed: string) =>
    crypto.symmetricDecrypt({ key: keysFrom(each), data: sealed });

  /** Also what was sealed under an earlier secret. Throws when no accepted one opens it. */
  async function open(sealed: string): Promise<string> {
    let fault: unknown;
    for (const each of [current, ...options.secrets.accepted]) {
      try {
        return await openedUnder(each, sealed);
      } catch (error) {
        fault ??= error;
      }
    }
    throw fault;
  }

  return {
    api: auth.api,
    headersOf,
    seal: (text: string) => crypto.symmetricEncrypt({ key: keysFrom(current), data: text }),
    open,
    /** The same under the current secret; null when it is already, or when no accepted secret opens it. */
    async resealed(sealed: string): Promise<string | null> {
      const isCurrent = await openedUnder(current, sealed).catch(() => null);
      if (isCurrent !== null) return null;
      const text = await open(sealed).catch(() => null);
      return text === null ? null : crypto.symmetricEncrypt({ key: keysFrom(current), data: text });
    },
    context: await auth.$context,
  };
}

/** The version says nothing: the library would need a number for each secret, and Relay tries those that it has. */
const SECRET_VERSION = 1;

function keysFrom(secret: KeyObject) {
  return { keys: new Map([[SECRET_VERSION, textOf(secret)]]), currentVersion: SECRET_VERSION };
}

function textOf(secret: KeyObject): string {
  return secret.export().toString('base64url');
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
