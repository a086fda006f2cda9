import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { adminClient } from '../../harness/admin-client.ts';
import { type Browser, createBrowser } from '../../harness/browser.ts';
import { sharedDeployment } from '../../harness/shared-deployment.ts';
import type { Manner } from '../manner.ts';

const PASSWORD = 'correct horse battery staple';

export const signOut: readonly Manner[] = [
  {
    name: 'self-hosted with accounts: a suspended member can do nothing but sign out',
    async check(site) {
      const { body } = await site.admin.call('POST', '/api/org/invitations', {
        email: `${randomUUID()}@example.com`,
        role: 'developer',
      });
      const member = await accept(site.url, body);
      const suspend = (id: string) =>
        site.admin.call('PATCH', `/api/org/members/${id}`, { status: 'suspended' });
      await suspendAndSignOut(site.url, member, suspend);
    },
  },
  {
    name: 'hosted: a suspended member can do nothing but sign out',
    async check() {
      const { url } = (await sharedDeployment('hosted')).platform;
      const owner = createBrowser();
      const founded = await owner.send('POST', `${url}/api/signup`, {
        name: 'Owner',
        email: `${randomUUID()}@example.com`,
        password: PASSWORD,
        organization_name: 'Strict',
      });
      assert.equal(founded.status, 201, JSON.stringify(founded.body));
      const invited = await owner.send('POST', `${url}/api/org/invitations`, {
        email: `${randomUUID()}@example.com`,
        role: 'viewer',
      });
      const member = await accept(url, invited.body);
      await suspendAndSignOut(url, member, (id) =>
        owner.send('PATCH', `${url}/api/org/members/${id}`, { status: 'suspended' }),
      );
    },
  },
];

async function accept(url: string, invited: unknown): Promise<Browser> {
  const { accept_url } = invited as { accept_url: string };
  const token = new URLSearchParams(new URL(accept_url).hash.slice(1)).get('token');
  const member = createBrowser();
  const joined = await member.send('POST', `${url}/api/invitations/accept`, {
    token,
    name: 'Member',
    password: PASSWORD,
  });
  assert.equal(joined.status, 201, JSON.stringify(joined.body));
  return member;
}

async function suspendAndSignOut(
  url: string,
  member: Browser,
  suspend: (userId: string) => Promise<{ status: number }>,
): Promise<void> {
  const before = await member.send('GET', `${url}/api/session`);
  const { id } = before.body['user'] as { id: string };
  assert.equal(before.body['suspended'], false);
  assert.equal((await suspend(id)).status, 200);
  const refused = await member.send('GET', `${url}/api/account`);
  assert.deepEqual([refused.status, refused.code], [403, 'permission_denied']);
  const models = await member.send('GET', `${url}/v1/models`);
  assert.deepEqual([models.status, models.code], [403, 'permission_denied']);
  // As after a reload: the page has forgotten the token that writes need.
  member.csrfToken = '';
  const session = await member.send('GET', `${url}/api/session`);
  assert.deepEqual([session.status, session.body['suspended']], [200, true]);
  const forged = await member.send('DELETE', `${url}/api/session`, undefined, { 'x-csrf-token': 'forged' });
  assert.equal(forged.code, 'csrf_failed');
  assert.ok(member.cookies.has('relay_session'));
  const out = await member.send('DELETE', `${url}/api/session`);
  assert.equal(out.status, 204, JSON.stringify(out.body));
  assert.ok(!member.cookies.has('relay_session'), 'the cookie is cleared');
  const key = adminClient(url, 'none');
  assert.equal((await key.call('DELETE', '/api/session')).status, 401);
}
