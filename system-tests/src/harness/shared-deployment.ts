import { randomBytes } from 'node:crypto';
import { after } from 'node:test';
import { type Deployment, startDeployment } from './deployment.ts';
import { type HostedDeployment, startHostedDeployment } from './hosted-deployment.ts';

// Deployments that all tests of a process share. A test takes an organization or lanes of its own, and neither stops, fills
// nor reconfigures a shared deployment.

/** The origin of web pages that may call `/v1` of the shared hosted deployment. */
export const APP_ORIGIN = 'https://app.example.com';

interface Shared {
  readonly self_hosted: Deployment;
  /** Self-hosted, with accounts. */
  readonly accounts: Deployment;
  readonly hosted: HostedDeployment;
  /** Self-hosted, in one process with its stores. */
  readonly embedded: Deployment;
}

const starts: { readonly [K in keyof Shared]: () => Promise<Shared[K]> } = {
  self_hosted: () => startDeployment(),
  accounts: () =>
    startDeployment({
      env: { RELAY_ACCOUNTS: 'true', RELAY_AUTH_SECRET: randomBytes(32).toString('base64url') },
    }),
  hosted: () => startHostedDeployment({ platform: { RELAY_CORS_ORIGINS: APP_ORIGIN } }),
  embedded: () => startDeployment({ stores: 'embedded' }),
};

const started: { -readonly [K in keyof Shared]?: Promise<Shared[K]> } = {};

/** Starts the deployment on the first call. It stops when the tests of this process have ended. */
export function sharedDeployment<K extends keyof Shared>(mode: K): Promise<Shared[K]> {
  const known: Promise<Shared[K]> | undefined = started[mode];
  if (known !== undefined) return known;
  const starting: Promise<Shared[K]> = starts[mode]();
  Object.assign(started, { [mode]: starting });
  return starting;
}

after(async () => {
  await Promise.allSettled(Object.values(started).map(async (each) => (await each).stop()));
});
