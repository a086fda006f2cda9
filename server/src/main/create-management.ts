import { randomBytes, randomUUIDv7 } from 'node:crypto';
import type { Authenticate } from '../http/authenticate.ts';
import type { Handlers } from '../http/call.ts';
import type { RequestHandler } from '../http/listener.ts';
import { createManagementApp } from '../http/management-app.ts';
import type { Mail } from '../mail/mail.ts';
import { createManagementHandlers } from '../management/index.ts';
import type { BrowserSessions } from './create-browser-sessions.ts';
import type { Upstream } from './create-upstream.ts';
import type { Configuration } from './open-configuration.ts';
import type { Stores } from './open-stores.ts';
import { roles } from './roles.ts';
import type { Runtime } from './runtime.ts';
import type { RunningAdmission } from './start-admission.ts';

const BODY_BYTES_MAX = 1024 * 1024;

export interface ManagementParts {
  readonly runtime: Runtime;
  readonly stores: Pick<Stores, 'database' | 'statistics' | 'backlog'>;
  readonly configuration: Configuration;
  readonly upstream: Upstream;
  readonly admission: RunningAdmission;
  readonly sessions: BrowserSessions;
  readonly mail: Mail | null;
  readonly authenticate: Authenticate;
}

/** Serves everything outside `/v1/`. In a process without the management role, its routes do not exist. */
export async function createManagement(parts: ManagementParts): Promise<RequestHandler> {
  const { runtime, authenticate } = parts;
  return await createManagementApp({
    log: runtime.log,
    publicUrl: runtime.publicUrl,
    draining: runtime.draining,
    bodyBytesMax: BODY_BYTES_MAX,
    authenticate,
    handlers: roles[runtime.roleName].management ? handlersOf(parts) : null,
  });
}

function handlersOf({
  runtime,
  stores,
  configuration,
  upstream,
  admission,
  ...parts
}: ManagementParts): Handlers {
  const { environment, deployment, publicUrl, clock } = runtime;
  const { database } = stores;
  const { fences, snapshots, sealer } = configuration;
  return {
    ...parts.sessions.handlers(),
    ...createManagementHandlers({
      ofOrganization: database.ofOrganization,
      statisticsOf: stores.statistics.ofOrganization,
      fences,
      keyPepper: () => runtime.secrets.keyPeppers.current,
      randomBytes,
      deployment,
      billing: { db: database.db, stripeWebhookSecret: environment.RELAY_STRIPE_WEBHOOK_SECRET },
      publicUrl,
      mail: parts.mail,
      sealer,
      egress: upstream.egress,
      openEgress: upstream.openEgress,
      upstreamAuth: upstream.upstreamAuth,
      snapshots,
      admission: admission.desk,
      health: admission.health,
      limitUsage: admission.limitUsage,
      liveTraffic: admission.liveTraffic,
      ledgerCompleteUntilMs: stores.backlog.completeUntilMs,
      clock,
      newId: randomUUIDv7,
      waitersMax: environment.RELAY_WAITERS_MAX,
      typicalTokens: upstream.typicalUse.of,
    }),
  };
}
