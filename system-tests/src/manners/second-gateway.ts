import { freePort } from '@relay/testbed';
import type { Deployment } from '../harness/deployment.ts';
import { CLIENT } from '../harness/identity-provider.ts';
import type { RelayProcess } from '../harness/relay-process.ts';
import { APP_ORIGIN } from '../harness/shared-deployment.ts';

/** A gateway beside the shared one, with settings that the shared one lacks: allowed origins and an identity provider. */
interface SecondGateway {
  readonly relay: RelayProcess;
  /** Where the gateway expects the identity provider, which a test may start. */
  readonly issuerPort: number;
}

let started: Promise<SecondGateway> | undefined;

export function secondGateway(site: Deployment): Promise<SecondGateway> {
  started ??= start(site);
  return started;
}

async function start(site: Deployment): Promise<SecondGateway> {
  const issuerPort = await freePort();
  const env = {
    RELAY_CORS_ORIGINS: `http://localhost:5173, ${APP_ORIGIN.toUpperCase()}/`,
    RELAY_OIDC_ISSUER: `http://127.0.0.1:${issuerPort}`,
    RELAY_OIDC_CLIENT_ID: CLIENT.id,
    RELAY_OIDC_CLIENT_SECRET: CLIENT.secret,
  };
  return { relay: await site.startProcess({ env }), issuerPort };
}
