import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { adminClient } from '../harness/admin-client.ts';
import { createBrowser } from '../harness/browser.ts';

const PASSWORD = 'correct horse battery staple';

/** A suspended member can do nothing but sign out. */
export async function checkSignOut(url: string, ownerKey: string): Promise<void> {
  const owner = adminClient(url, ownerKey);
  const { body: invited } = await owner.call('POST', '/api/org/invitations', {
    email: `${randomUUID()}@example.com`,
    role: 'developer',
  });
  const { accept_url } = invited as { accept_url: string };
  const token = new URLSearchParams(new URL(accept_url).hash.slice(1)).get('token');
  const member = createBrowser();
  const joined = await member.send('POST', `${url}/api/invitations/accept`, {
    token,
    name: 'Member',
    password: PASSWORD,
  });
  assert.equal(joined.status, 201, JSON.stringify(joined.body));
  const before = await member.send('GET', `${url}/api/session`);
  const { id } = before.body['user'] as { id: string };
  assert.equal(before.body['suspended'], false);
  const suspended = await owner.call('PATCH', `/api/org/members/${id}`, { status: 'suspended' });
  assert.equal(suspended.status, 200);
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
