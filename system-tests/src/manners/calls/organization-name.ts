import assert from 'node:assert/strict';
import { allScopes } from '@relay/contract';
import { type Accounts, openAccounts, type Role } from '../../harness/accounts.ts';
import { type AdminClient, adminClient } from '../../harness/admin-client.ts';
import { sharedDeployment } from '../../harness/shared-deployment.ts';
import type { Manner } from '../manner.ts';

export const organizationName: readonly Manner[] = [
  {
    name: 'self-hosted with accounts: PATCH /api/org renames the organization, for owners and admins',
    async check(site) {
      const { body } = await site.admin.call('GET', '/api/account');
      const { org } = body as { org: { id: string; name: string } };
      const authSecret = site.env['RELAY_AUTH_SECRET'] ?? '';
      const accounts = openAccounts({ databaseUrl: site.postgres.url, authSecret });
      try {
        await renameAsEachRole(site.url, accounts, org.id);
      } finally {
        await accounts.close();
      }
      const restored = await site.admin.call('PATCH', '/api/org', { name: org.name });
      assert.deepEqual([restored.status, restored.body], [200, org]);
    },
  },
  {
    name: 'hosted: PATCH /api/org renames the organization of the caller and no other',
    async check() {
      const { platform, accounts } = await sharedDeployment('hosted');
      const id = await accounts.addOrganization({ plan: 'team' });
      const other = await accounts.addOrganization({ plan: 'team', name: 'Other' });
      await renameAsEachRole(platform.url, accounts, id);
      const rows = await accounts.query('select name from organizations where id = $1', [other]);
      assert.deepEqual(rows, [{ name: 'Other' }]);
    },
  },
];

async function renameAsEachRole(url: string, accounts: Accounts, id: string): Promise<void> {
  const clientOf = async (role: Role): Promise<AdminClient> => {
    const userId = await accounts.addMember(id, { role });
    const { key } = await accounts.addKey({ organizationId: id, userId, scopes: allScopes });
    return adminClient(url, key);
  };
  for (const role of ['owner', 'admin'] as const) {
    const client = await clientOf(role);
    const name = `Named by the ${role}`;
    const renamed = await client.call('PATCH', '/api/org', { name });
    assert.deepEqual([renamed.status, renamed.body], [200, { id, name }]);
    const { body } = await client.call('GET', '/api/account');
    assert.deepEqual((body as { org: unknown }).org, { id, name });
    const log = await client.call('GET', '/api/relay/audit-log?action=organization.update&limit=1');
    const [entry] = (log.body as { data: { after: unknown; target_id: string }[] }).data;
    assert.deepEqual([entry?.target_id, entry?.after], [id, { name }]);
    for (const wrong of ['', '   ', ` ${name}`, 'x'.repeat(201)]) {
      const refused = await client.call('PATCH', '/api/org', { name: wrong });
      assert.equal(refused.status, 400, JSON.stringify(refused.body));
    }
  }
  for (const role of ['developer', 'viewer', 'billing'] as const) {
    const refused = await (await clientOf(role)).call('PATCH', '/api/org', { name: 'Taken over' });
    assert.equal(refused.status, 403, `${role}: ${JSON.stringify(refused.body)}`);
  }
}
