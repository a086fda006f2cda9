import { randomBytes } from 'node:crypto';
import { allScopes } from '@relay/contract';
import { freePort } from '@relay/testbed';
import { type Accounts, openAccounts } from '../harness/accounts.ts';
import { createBrowser } from '../harness/browser.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { CLIENT, type IdentityProvider, startIdentityProvider } from '../harness/identity-provider.ts';

export const PASSWORD = 'correct horse battery staple';

/** A deployment, one process, with an identity provider that vouches for whom the walk names. */
export interface Site {
  readonly mode: 'hosted' | 'self_hosted';
  readonly deployment: Deployment;
  readonly accounts: Accounts;
  readonly identityProvider: IdentityProvider;
  readonly issuer: string;
  readonly operatorKey: (organizationId: string, ownerId: string) => Promise<string>;
}

/** One secret for both deployments, so that what one has sealed and hashed is valid in the other. */
const authSecret = randomBytes(24).toString('base64url');

export async function startSite(mode: Site['mode']): Promise<Site> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const deployment = await startDeployment({
    stores: 'servers',
    env: {
      ...(mode === 'hosted' ? { RELAY_MODE: 'hosted' } : { RELAY_ACCOUNTS: 'true' }),
      RELAY_AUTH_SECRET: authSecret,
      RELAY_OIDC_ISSUER: issuer,
      RELAY_OIDC_CLIENT_ID: CLIENT.id,
      RELAY_OIDC_CLIENT_SECRET: CLIENT.secret,
    },
  });
  const accounts = openAccounts({ databaseUrl: deployment.postgres.url, authSecret });
  return {
    mode,
    deployment,
    accounts,
    issuer,
    identityProvider: await startIdentityProvider(port, deployment.url),
    async operatorKey(organizationId, userId) {
      if (mode === 'self_hosted') return deployment.adminToken;
      return (await accounts.addKey({ organizationId, userId, scopes: allScopes })).key;
    },
  };
}

export async function stopSite({ deployment, accounts, identityProvider }: Site): Promise<void> {
  await accounts.close();
  await identityProvider.close();
  await deployment.stop();
}

/** The proofs of a person who has signed up, as the database keeps them: everybody else gets copies, because hashing is slow. */
export interface Proofs {
  readonly passwordHash: string;
  readonly factorSecret: string;
  readonly backupCodes: string;
  readonly factorUri: string;
}

export async function enrol({ deployment: { url }, accounts }: Site): Promise<Proofs> {
  const browser = createBrowser();
  const person = {
    name: 'Ada',
    email: 'enrolled@example.com',
    password: PASSWORD,
    organization_name: 'Enrolled',
  };
  await browser.send('POST', `${url}/api/signup`, person);
  const setup = await browser.send('POST', `${url}/api/account/totp`, { password: PASSWORD });
  const [row] = await accounts.query(
    `select account.password, factor.secret, factor.backup_codes from users
     join auth_accounts account on account.user_id = users.id join auth_two_factors factor on factor.user_id = users.id
     where users.email = $1`,
    [person.email],
  );
  return {
    passwordHash: String(row?.['password']),
    factorSecret: String(row?.['secret']),
    backupCodes: String(row?.['backup_codes']),
    factorUri: String(setup.body['uri']),
  };
}
