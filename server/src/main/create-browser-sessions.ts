import { randomUUIDv7 } from 'node:crypto';
import type { OrganizationSnapshot } from '../domain/snapshot.ts';
import type { AuthenticateSession } from '../edge/authenticators.ts';
import type { OidcSettings, SessionSettings } from '../edge/identity/deps.ts';
import { createSessions } from '../edge/identity/sessions.ts';
import { createSessionAuthenticator } from '../edge/session-authenticator.ts';
import { sessionHandlers } from '../edge/session-routes.ts';
import type { SignInCodes } from '../edge/sign-in-codes.ts';
import type { Handlers } from '../http/call.ts';
import { Secret } from '../kit/secret.ts';
import type { Mail } from '../mail/mail.ts';
import type { Environment } from './environment.ts';
import type { Configuration } from './open-configuration.ts';
import type { Stores } from './open-stores.ts';
import type { Runtime } from './runtime.ts';

export interface SessionParts {
  readonly runtime: Runtime;
  readonly stores: Pick<Stores, 'database' | 'redis'>;
  readonly configuration: Configuration;
  readonly mail: Mail | null;
  readonly signInCodes: SignInCodes | null;
}

export interface BrowserSessions {
  /** Creates the authenticator of browser sessions, given how to read an organization's current snapshot. */
  authenticator(snapshotOf: (organizationId: string) => Promise<OrganizationSnapshot>): AuthenticateSession;
  handlers(): Handlers;
}

/** Browser sign-in as the environment configures it: passwords, single sign-on, or the admin token alone. */
export function createBrowserSessions({
  runtime,
  stores,
  configuration,
  mail,
  signInCodes: codes,
}: SessionParts): BrowserSessions {
  const { environment, publicUrl } = runtime;
  const { owner } = configuration;
  const mode = environment.RELAY_MODE;
  const settings: SessionSettings = {
    db: stores.database.db,
    secrets: runtime.secrets.session,
    publicUrl,
    accounts: runtime.deployment.accounts,
    admin:
      owner === null
        ? null
        : {
            token: new Secret(environment.RELAY_ADMIN_TOKEN ?? ''),
            earlierTokens: environment.RELAY_ADMIN_TOKEN_PREVIOUS.map((token) => new Secret(token)),
            ...owner,
            codes,
          },
  };
  return {
    authenticator: (freshness) =>
      createSessionAuthenticator({ ...settings, sessions: createSessions(settings), freshness }),
    handlers: () =>
      sessionHandlers({
        ...settings,
        mode,
        oidc: oidcOf(environment),
        redis: stores.redis,
        fences: configuration.fences,
        mail,
        clock: runtime.clock,
        newId: randomUUIDv7,
        log: runtime.log,
      }),
  };
}

function oidcOf(environment: Environment): OidcSettings | null {
  const { RELAY_OIDC_ISSUER: issuer, RELAY_OIDC_CLIENT_ID: clientId } = environment;
  if (issuer === null || clientId === null) return null;
  const secret = environment.RELAY_OIDC_CLIENT_SECRET;
  return {
    issuer,
    clientId,
    clientSecret: secret === null ? null : new Secret(secret),
    joinRole: environment.RELAY_OIDC_JOIN_ROLE,
  };
}
