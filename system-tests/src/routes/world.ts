import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { allScopes } from '@relay/contract';
import { type Accounts, absentAccounts, openAccounts } from '../harness/accounts.ts';
import { accountsOverApi } from '../harness/accounts-over-api.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { everywhere } from '../harness/everywhere.ts';
import { BODY_BYTES_MAX } from '../harness/hosted-deployment.ts';
import { addObjects, type Objects, untilLedgerReady } from '../harness/objects.ts';
import type { RelayProcess } from '../harness/relay-process.ts';
import { APP_ORIGIN } from '../harness/shared-deployment.ts';
import { type Caller, NO_ID, textAt } from './answer.ts';
import { createSecrets } from './secrets.ts';
import type { Mode } from './served.ts';
import { createWalk, type Walk } from './walk.ts';

/** A deployment in one mode, and who is in it. */
export interface World {
  readonly walk: Walk;
  readonly deployment: Deployment;
  /** A server whose queries do not name their organization, and the inference service behind the platform; both if hosted. */
  readonly carelessUrl: string;
  readonly inferenceUrl: string;
  readonly accounts: Accounts;
  /** Callers with every permission in this mode: an owner's key, the admin token, or both. */
  readonly callers: readonly Caller[];
  /** Sends requests for inference. */
  readonly client: Caller;
  /** A developer of the same organization; without accounts, its only member. */
  readonly memberId: string;
  /** One of everything in an organization that none of the callers belongs to. */
  readonly foreign: Objects;
  /** Requests that are none of the walk's: they made its callers. */
  readonly preparations: ReadonlySet<string>;
  /** Resolves when every process that serves requests has applied the configuration as it is now. */
  everywhere(): Promise<void>;
  stop(): Promise<void>;
}

const PRELOAD = join(import.meta.dirname, 'isolation/preload-without-predicate.ts');

export const nobody: Caller = { headers: {}, organizationId: '', userId: '', actor: null };

export async function startWorld(mode: Mode): Promise<World> {
  const authSecret = randomBytes(32).toString('base64url');
  const { deployment, url, inferenceUrl, serving } = await startMode(mode, authSecret);
  const { accounts, preparations } = openPeople(deployment, mode, authSecret);
  const secrets = createSecrets();
  secrets.know('RELAY_AUTH_SECRET', authSecret);
  secrets.know('RELAY_ADMIN_TOKEN', deployment.adminToken);
  secrets.know('RELAY_API_TOKEN', deployment.apiToken);
  secrets.know('RELAY_MASTER_KEY', deployment.env['RELAY_MASTER_KEY'] ?? '');
  const walk = createWalk({ mode, url, secrets });
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
  const token: Caller = { ...nobody, headers: { authorization: `Bearer ${deployment.apiToken}` } };
  const client = mode.accounts ? (callers.at(-1) ?? nobody) : token;
  return {
    walk,
    deployment,
    carelessUrl: deployment.url,
    inferenceUrl,
    accounts,
    callers,
    client,
    memberId,
    preparations,
    // Where no other organization can be made, its objects are IDs that exist nowhere.
    foreign: await foreignObjects(deployment.dataDirectory === null ? accounts : absentAccounts()),
    everywhere: () => (mode.hosted ? everywhere(deployment.postgres.url, serving) : deployment.everywhere()),
    async stop() {
      await accounts.close();
      await deployment.stop();
    },
  };
}

interface Started extends Pick<World, 'deployment' | 'inferenceUrl'> {
  readonly url: string;
  readonly serving: readonly RelayProcess[];
}

/** A hosted deployment has a process for each role, and one that forgets predicates; the others are one process. */
async function startMode(mode: Mode, authSecret: string): Promise<Started> {
  const deployment = await startDeployment({
    env: {
      RELAY_MODE: mode.hosted ? 'hosted' : 'self_hosted',
      RELAY_AUTH_SECRET: authSecret,
      RELAY_ACCOUNTS: String(mode.accounts && !mode.hosted),
      RELAY_MAX_BODY_BYTES: String(BODY_BYTES_MAX),
    },
    ...(mode.hosted ? { nodeFlags: ['--import', PRELOAD] } : {}),
  });
  const { url, processes } = deployment;
  if (!mode.hosted) return { deployment, url, inferenceUrl: url, serving: processes };
  const { d, x } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const start = (role: string, env: Record<string, string> = {}) =>
    deployment.startProcess({ role, env, nodeFlags: [] });
  const inference = await start('inference', { RELAY_CONTEXT_VERIFY_KEYS: String(x) });
  const [platform] = await Promise.all([
    start('platform', {
      RELAY_CONTEXT_SIGNING_KEY: String(d),
      RELAY_INFERENCE_URL: inference.url,
      RELAY_CORS_ORIGINS: APP_ORIGIN,
    }),
    start('worker'),
  ]);
  return { deployment, url: platform.url, inferenceUrl: inference.url, serving: [inference] };
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
