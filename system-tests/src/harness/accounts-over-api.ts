import { randomUUIDv7 } from 'node:crypto';
import { type Accounts, absentAccounts } from './accounts.ts';
import type { Deployment } from './deployment.ts';
import { bearer, relayFetch } from './relay-fetch.ts';

const PASSWORD = 'correct horse battery staple';

export interface AccountsOverApi extends Accounts {
  /** IDs of the requests that wrote something, for a test that accounts for every write. */
  readonly requestIds: ReadonlySet<string>;
}

/**
 * Members and keys of a self-hosted deployment with accounts whose database no test can open: invited, joined and given keys as
 * people do it. There are no other organizations and no queries.
 */
export function accountsOverApi({ url, adminToken }: Deployment): AccountsOverApi {
  const requestIds = new Set<string>();
  async function post(path: string, body: object, isAdmin = true): Promise<Record<string, unknown>> {
    const headers = isAdmin ? bearer(adminToken) : {};
    const answer = await relayFetch(url, 'POST', path, { headers, body });
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
    requestIds.add(answer.headers.get('x-request-id') ?? '');
    return answer.body as Record<string, unknown>;
  }
  return {
    ...absentAccounts(),
    requestIds,
    async addMember(_organizationId, { role, name = 'Ada' }) {
      const invitation = { email: `${randomUUIDv7()}@example.com`, role };
      const { accept_url } = await post('/api/org/invitations', invitation);
      const token = new URL(String(accept_url)).hash.replace('#token=', '');
      const joined = await post('/api/invitations/accept', { token, name, password: PASSWORD }, false);
      return String((joined['user'] as { id: string }).id);
    },
    async addKey({ userId, scopes, name = 'Main' }) {
      const made = await post('/api/org/api-keys', { user_uuid: userId, name, scopes });
      return { key: String(made['api_key']), id: String((made['key'] as { id: string }).id) };
    },
  };
}
