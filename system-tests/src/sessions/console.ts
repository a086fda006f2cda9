import { randomBytes } from 'node:crypto';
import { it } from 'node:test';
import { freePort } from '@relay/testbed';
import type { Answer, Browser } from '../harness/browser.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import {
  CLIENT,
  type IdentityProvider,
  type Person,
  startIdentityProvider,
} from '../harness/identity-provider.ts';
import type { OnServers } from '../harness/stores.ts';

export const PASSWORD = 'correct horse battery staple';
export const figures = { cases: 0, failed: 0 };

/** One case of the figures. */
export function check(name: string, run: () => Promise<void>, test: OnServers['it'] = it): void {
  test(name, async () => {
    figures.cases += 1;
    try {
      await run();
    } catch (error) {
      figures.failed += 1;
      throw error;
    }
  });
}

export async function startConsole(env: Record<string, string>) {
  const port = await freePort();
  const deployment = await startDeployment({
    processes: 2,
    env: {
      RELAY_AUTH_SECRET: randomBytes(24).toString('base64url'),
      RELAY_OIDC_ISSUER: `http://127.0.0.1:${port}`,
      RELAY_OIDC_CLIENT_ID: CLIENT.id,
      RELAY_OIDC_CLIENT_SECRET: CLIENT.secret,
      ...env,
    },
  });
  const identityProvider = await startIdentityProvider(port, deployment.url);
  return { deployment, identityProvider };
}

export async function stopConsole(of: {
  deployment: Deployment;
  identityProvider: IdentityProvider;
}): Promise<void> {
  await of.identityProvider.close();
  await of.deployment.stop();
}

/** Alternates between the processes, because no session state may live in one of them alone. */
export function alternating(deployment: Deployment) {
  const urls = deployment.processes.map((process) => process.url);
  let turn = 0;
  return (
    browser: Browser,
    method: string,
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ) => {
    const url = urls[turn % urls.length] ?? deployment.url;
    turn += 1;
    return browser.send(method, url + path, body, headers);
  };
}

export async function travel(
  deployment: Deployment,
  idp: IdentityProvider,
  browser: Browser,
  person: Person,
) {
  idp.person = person;
  const home = `${deployment.url}/lanes`;
  return browser.follow(`${deployment.url}/api/sso/start?return_to=%2Flanes`, home);
}

export const person = (name: string, emailVerified = true): Person => ({
  id: `id-${name}`,
  email: `${name.toLowerCase()}@example.com`,
  emailVerified,
  name,
});

export function errorOf({ status, code }: Answer): [number, string | undefined] {
  return [status, code];
}

/** The token of a link of an invitation, which stands where no server on the way sees it. */
export function tokenOf({ body }: Answer): string {
  return new URL(body['accept_url'] as string).hash.replace('#token=', '');
}
