import { randomBytes } from 'node:crypto';
import { allScopes } from '@relay/contract';
import { type Accounts, absentAccounts, openAccounts } from '../harness/accounts.ts';
import { accountsOverApi } from '../harness/accounts-over-api.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { addObjects, type Objects, untilLedgerReady } from '../harness/objects.ts';
import { type Caller, NO_ID, textAt } from './answer.ts';
import { createSecrets } from './secrets.ts';
import type { Mode } from './served.ts';
import { createWalk, type Walk } from './walk.ts';

/** A deployment in one mode, and who is in it. */
export interface World {
  readonly walk: Walk;
  readonly deployment: Deployment;
  readonly accounts: Accounts;
  /** Callers with every permission in this mode: an owner's key, the admin token, or both. */
  readonly callers: readonly Caller[];
  /** A developer of the same organization; without accounts, its only member. */
  readonly memberId: string;
  /** One of everything in an organization that none of the callers belongs to. */
  readonly foreign: Objects;
  /** Requests that are none of the walk's: they made its callers. */
  readonly preparations: ReadonlySet<string>;
  stop(): Promise<void>;
}

export const nobody: Caller = { headers: {}, organizationId: '', userId: '', actor: null };

export async function startWorld(mode: Mode): Promise<World> {
  const authSecret = randomBytes(32).toString('base64url');
  const deployment = await startDeployment({
    env: {
      RELAY_MODE: mode.hosted ? 'hosted' : 'self_hosted',
      RELAY_AUTH_SECRET: authSecret,
      RELAY_ACCOUNTS: String(mode.accounts && !mode.hosted),
    },
  });
  const { accounts, preparations } = openPeople(deployment, mode, authSecret);
  const secrets = createSecrets();
  secrets.know('RELAY_AUTH_SECRET', authSecret);
  secrets.know('RELAY_ADMIN_TOKEN', deployment.adminToken);
  secrets.know('RELAY_API_TOKEN', deployment.apiToken);
  secrets.know('RELAY_MASTER_KEY', deployment.env['RELAY_MASTER_KEY'] ?? '');
  const walk = createWalk({ mode, url: deployment.url, secrets });
  if (deployment.dataDirectory === null) await untilLedgerReady(accounts);

  const organizationId = mode.hosted
    ? await accounts.addOrganization({ plan: 'enterprise' })
    : await implicitOrganization(walk, deployment);
  const callers: Caller[] = [];
  if (!mode.hosted) callers.push(await tokenCaller(walk, deployment));
  if (mode.accounts) callers.push(await keyCaller(accounts, walk, organizationId));
  const memberId = mode.accounts
    ? await accounts.addMember(organizationId, { role: 'developer', name: 'Grace' })
    : (callers[0]?.userId ?? NO_ID);
  return {
    walk,
    deployment,
    accounts,
    callers,
    memberId,
    preparations,
    // Where no other organization can be made, its objects are IDs that exist nowhere.
    foreign: await foreignObjects(deployment.dataDirectory === null ? accounts : absentAccounts()),
    async stop() {
      await accounts.close();
      await deployment.stop();
    },
  };
}

function openPeople(
  deployment: Deployment,
  { accounts }: Mode,
  authSecret: string,
): { accounts: Accounts; preparations: ReadonlySet<string> } {
  if (deployment.dataDirectory === null)
    return {
      accounts: openAccounts({ databaseUrl: deployment.postgres.url, authSecret }),
      preparations: new Set(),
    };
  if (!accounts) return { accounts: absentAccounts(), preparations: new Set() };
  const overApi = accountsOverApi(deployment);
  return { accounts: overApi, preparations: overApi.requestIds };
}

async function implicitOrganization(walk: Walk, { adminToken }: Deployment): Promise<string> {
  const headers = { authorization: `Bearer ${adminToken}` };
  return textAt(await walk.send({ ...nobody, headers }, 'GET /api/account'), 'org', 'id');
}

async function tokenCaller(walk: Walk, { adminToken }: Deployment): Promise<Caller> {
  const headers = { authorization: `Bearer ${adminToken}` };
  const account = await walk.send({ ...nobody, headers }, 'GET /api/account');
  const userId = textAt(account, 'user', 'id');
  const actor = { type: 'admin_token', id: userId } as const;
  return { headers, organizationId: textAt(account, 'org', 'id'), userId, actor };
}

async function keyCaller(accounts: Accounts, walk: Walk, organizationId: string): Promise<Caller> {
  const userId = await accounts.addMember(organizationId, { role: 'owner' });
  const { key, id } = await accounts.addKey({ organizationId, userId, scopes: allScopes });
  walk.secrets.know('the key of the caller', key);
  const headers = { authorization: `Bearer ${key}` };
  return { headers, organizationId, userId, actor: { type: 'api_key', id } };
}

async function foreignObjects(accounts: Accounts): Promise<Objects> {
  const organizationId = await accounts.addOrganization({ plan: 'enterprise', name: 'Elsewhere' });
  const callerId = await accounts.addMember(organizationId, { role: 'owner' });
  const upstreamUrl = 'https://elsewhere.example.com/v1';
  const objects = await addObjects(accounts, { organizationId, callerId, upstreamUrl, suffix: '' });
  await accounts.changed(organizationId);
  return objects;
}

/** Callers that can read the audit logs of all organizations in which the walk has acted. */
export async function trailReaders({ walk, accounts, callers }: World): Promise<Caller[]> {
  const readers = new Map(callers.map((caller) => [caller.organizationId, caller]));
  for (const { caller } of walk.answers) {
    const { organizationId, userId } = caller;
    if (organizationId === '' || readers.has(organizationId)) continue;
    const { key, id } = await accounts.addKey({ organizationId, userId, scopes: allScopes });
    const headers = { authorization: `Bearer ${key}` };
    readers.set(organizationId, { ...caller, headers, actor: { type: 'api_key', id } });
  }
  return [...readers.values()];
}
