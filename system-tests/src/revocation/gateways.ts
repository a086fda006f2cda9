import { randomBytes } from 'node:crypto';
import { type Accounts, openAccounts } from '../harness/accounts.ts';
import { createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';

export const MODEL = 'guarded';

export interface MadeKey {
  readonly id: string;
  /** The whole key. */
  readonly key: string;
}

/** Three gateways with accounts on the same stores; whatever changes access goes through their own interface. */
export interface Gateways {
  readonly deployment: Deployment;
  /** Straight to PostgreSQL, on a connection that does not outlive the work: the server may be stopped any time. */
  inDatabase<T>(work: (accounts: Accounts) => Promise<T>): Promise<T>;
  /** Of the implicit owner, or for a member. */
  createKey(over?: { scopes?: readonly string[]; userId?: string }): Promise<MadeKey>;
  /** Asks one of the gateways; answers the status. */
  manage(gateway: number, method: string, path: string, body?: unknown): Promise<number>;
  addMember(role: 'admin' | 'developer'): Promise<string>;
  stop(): Promise<void>;
}

const PROCESSES = 3;

export async function startGateways(): Promise<Gateways> {
  const authSecret = randomBytes(32).toString('base64url');
  const deployment = await startDeployment({
    processes: PROCESSES,
    env: { RELAY_ACCOUNTS: 'true', RELAY_AUTH_SECRET: authSecret },
  });
  const { admin, provider, adminToken } = deployment;
  const entry = { baseUrl: provider.baseUrl, upstreamModel: 'sim-chat' };
  await createLane(admin, { name: MODEL, endpoints: [entry] });
  const account = await admin.call('GET', '/api/account');
  const organizationId = (account.body as { org: { id: string } }).org.id;

  async function inDatabase<T>(work: (accounts: Accounts) => Promise<T>): Promise<T> {
    const accounts = openAccounts({ databaseUrl: deployment.postgres.url, authSecret });
    try {
      return await work(accounts);
    } finally {
      await accounts.close();
    }
  }

  return {
    deployment,
    inDatabase,
    async createKey({ scopes = ['relay:request'], userId } = {}) {
      const path = userId === undefined ? '/api/account/api-keys' : '/api/org/api-keys';
      const owner = userId === undefined ? {} : { user_uuid: userId };
      const made = await admin.create(path, { name: 'load', scopes, ...owner });
      return { id: (made['key'] as { id: string }).id, key: String(made['api_key']) };
    },
    async manage(gateway, method, path, body) {
      const response = await fetch(`${deployment.processes[gateway]?.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${adminToken}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
      });
      await response.arrayBuffer();
      return response.status;
    },
    addMember: (role) => inDatabase((accounts) => accounts.addMember(organizationId, { role })),
    stop: () => deployment.stop(),
  };
}
