import { randomUUIDv7 } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../domain/caller.ts';
import type { OrganizationSnapshot } from '../domain/snapshot.ts';
import type { OidcSettings, SessionSettings } from '../edge/identity/deps.ts';
import { createSessions } from '../edge/identity/sessions.ts';
import { createSessionDoor } from '../edge/session-door.ts';
import { sessionHandlers } from '../edge/session-routes.ts';
import type { Handlers } from '../http/call.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { Secret } from '../kit/secret.ts';
import type { Fences } from '../store/keys/fences.ts';
import type { DatabaseHandle } from '../store/postgres/postgres.ts';
import type { Redis } from '../store/redis/redis.ts';
import { authSecretsFrom } from './auth-secrets.ts';
import type { Environment } from './environment.ts';

export interface SessionParts {
  readonly environment: Environment;
  /** Self-hosted: the implicit organization and its owner. */
  readonly owner: { readonly organizationId: string; readonly userId: string } | null;
  readonly database: DatabaseHandle;
  /** Null where live state is in this process. */
  readonly redis: Redis | null;
  readonly fences: Fences;
  readonly publicUrl: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface BrowserSessions {
  /** Who a browser session acts for, given how to ask for an organization as it is now. */
  door(
    freshness: (organizationId: string) => Promise<OrganizationSnapshot>,
  ): (request: IncomingMessage) => Promise<Caller>;
  handlers(): Handlers;
}

/** What people do in browsers, as this deployment is set up. */
export function startSessions(parts: SessionParts): BrowserSessions {
  const { environment, owner, publicUrl } = parts;
  const mode = environment.RELAY_MODE;
  // Without accounts the only sessions are those of the admin token, which may then sign them as well.
  const { sessionSecret } = authSecretsFrom(
    environment.RELAY_AUTH_SECRET ?? environment.RELAY_ADMIN_TOKEN ?? '',
  );
  const settings: SessionSettings = {
    db: parts.database.db,
    secret: sessionSecret,
    publicUrl,
    accounts: mode === 'hosted' || environment.RELAY_ACCOUNTS,
    admin: owner === null ? null : { token: new Secret(environment.RELAY_ADMIN_TOKEN ?? ''), ...owner },
  };
  return {
    door: (freshness) => createSessionDoor({ ...settings, sessions: createSessions(settings), freshness }),
    handlers: () =>
      sessionHandlers({
        ...settings,
        mode,
        oidc: oidcOf(environment),
        redis: parts.redis,
        fences: parts.fences,
        clock: parts.clock,
        newId: randomUUIDv7,
        log: parts.log,
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
