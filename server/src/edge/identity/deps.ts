import type { Kysely } from 'kysely';
import type { RoleName } from '../../domain/access.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Secret } from '../../kit/secret.ts';
import type { Mail } from '../../mail/mail.ts';
import type { Fences } from '../../store/keys/fences.ts';
import type { Database } from '../../store/postgres/schema.ts';
import type { Redis } from '../../store/redis/redis.ts';
import type { StoreLog } from '../../store/store-log.ts';
import type { SignInCodes } from '../sign-in-codes.ts';
import type { SessionSecrets } from './session-secrets.ts';

/** Who can have a browser session, and the secret that signs it. */
export interface SessionSettings {
  /** The deployment's connection: a user may be a member of several organizations. */
  readonly db: Kysely<Database>;
  readonly secrets: SessionSecrets;
  readonly publicUrl: string;
  readonly accounts: boolean;
  /** Self-hosted: the token that signs in as the implicit owner. */
  readonly admin: AdminSignIn | null;
}

export interface AdminSignIn {
  readonly token: Secret;
  /** Earlier tokens that still sign in, until the operator removes them. */
  readonly earlierTokens: readonly Secret[];
  readonly organizationId: string;
  readonly userId: string;
  /** Null: only the token signs in. */
  readonly codes: Pick<SignInCodes, 'redeem'> | null;
}

/** The deployment's identity provider, configured by the operator. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Secret | null;
  /** Self-hosted: the role of a user who signs in for the first time without an invitation. */
  readonly joinRole: RoleName | null;
}

export interface IdentityDeps extends SessionSettings {
  readonly mode: 'self_hosted' | 'hosted';
  readonly oidc: OidcSettings | null;
  /** Counts attempts; null when this process is the whole deployment. */
  readonly redis: Pick<Redis, 'run'> | null;
  /** Raised when a user joins, so that no gateway decides on older state. */
  readonly fences: Pick<Fences, 'raise'>;
  /** Null: the deployment sends no e-mail. */
  readonly mail: Mail | null;
  readonly clock: Clock;
  /** UUIDv7. */
  readonly newId: () => string;
  readonly log: Pick<StoreLog, 'warn'>;
}
