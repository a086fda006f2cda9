import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ConsoleFixture, join, PASSWORD, signIn, signUp, startConsole } from './fixture.ts';

describe('an invitation', () => {
  let room: ConsoleFixture;
  let host: Awaited<ReturnType<typeof signUp>>;
  before(async () => {
    room = await startConsole({ mode: 'hosted' });
    host = await signUp(room, 'Host');
    await setPlan('team');
  });
  after(() => room.close());

  function setPlan(plan: string) {
    return room.db.updateTable('organizations').set({ plan }).where('id', '=', host.organizationId).execute();
  }
  const accept = (
    token: string,
    more: object = { name: 'New', password: PASSWORD },
    browser = room.browser(),
  ) => browser.send('POST', '/api/invitations/accept', { token, ...more });
  const membersOf = () =>
    room.db
      .selectFrom('organization_members')
      .select(['user_id', 'role'])
      .where('organization_id', '=', host.organizationId)
      .execute();

  it('makes a new user a signed-in member with the invited role, and is then used', async () => {
    const token = await room.invite(host.organizationId, 'New@Example.com', 'viewer');
    const answer = await accept(token);
    assert.equal(answer.status, 201);
    assert.deepEqual(
      [answer.body['role'], (answer.body['user'] as { email: string }).email],
      ['viewer', 'new@example.com'],
    );
    assert.equal((await signIn(room.browser(), 'new@example.com')).status, 201);
    assert.equal((await accept(token)).code, 'not_found');
    const entry = await room.db
      .selectFrom('audit_log')
      .selectAll()
      .where('action', '=', 'invitation.accept')
      .executeTakeFirstOrThrow();
    assert.equal(entry.organization_id, host.organizationId);
    assert.deepEqual(entry.after, {
      user_id: (answer.body['user'] as { id: string }).id,
      email: 'New@Example.com',
      role: 'viewer',
    });
    assert.ok(!JSON.stringify(entry).includes(token));
  });

  it('needs a name and a password from a new user', async () => {
    const token = await room.invite(host.organizationId, 'nameless@example.com', 'viewer');
    const { status, body } = await accept(token, { name: 'Nameless' });
    assert.deepEqual([status, (body['error'] as { param: string }).param], [400, 'password']);
    assert.equal((await accept(token)).status, 201);
  });

  it('is for the address it names: a user with an account accepts while signed in to it', async () => {
    const guest = await signUp(room, 'Guest');
    const token = await room.invite(host.organizationId, guest.email, 'developer');
    const asked = await accept(token, {});
    assert.deepEqual(
      [asked.code, (asked.body['error'] as { param: string }).param],
      ['conflict', 'password'],
    );
    assert.equal((await accept(token, { password: 'somebody else’s' })).code, 'invalid_credentials');
    const stranger = await signUp(room, 'Stranger');
    assert.equal((await accept(token, {}, stranger.browser)).code, 'conflict');
    const forged = await guest.browser.send(
      'POST',
      '/api/invitations/accept',
      { token },
      { 'x-csrf-token': 'x' },
    );
    assert.equal(forged.code, 'csrf_failed');
    const answer = await accept(token, {}, guest.browser);
    assert.equal(answer.status, 201);
    assert.deepEqual(
      [(answer.body['org'] as { id: string }).id, answer.body['role']],
      [host.organizationId, 'developer'],
    );
    assert.equal((answer.body['orgs'] as unknown[]).length, 2);
    const seen = await guest.browser.send('GET', '/api/session');
    assert.equal((seen.body['org'] as { id: string }).id, host.organizationId);
  });

  it('opens nothing once it has expired, was withdrawn, or never was', async () => {
    const expired = await room.invite(host.organizationId, 'late@example.com', 'viewer', -1_000);
    const withdrawn = await room.invite(host.organizationId, 'gone@example.com', 'viewer');
    await room.db
      .updateTable('invitations')
      .set({ revoked_at: new Date() })
      .where('email', '=', 'gone@example.com')
      .execute();
    for (const token of [expired, withdrawn, 'never', '']) {
      const { status, code } = await accept(token || 'x'.repeat(43));
      assert.deepEqual([status, code], [404, 'not_found']);
    }
  });

  it('is used once, also by concurrent requests', async () => {
    const token = await room.invite(host.organizationId, 'fast@example.com', 'viewer');
    const answers = await Promise.all(Array.from({ length: 4 }, () => accept(token)));
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    assert.ok(answers.every(({ status }) => [201, 404, 409].includes(status)));
  });

  it('is refused to a member, and keeps them as they are', async () => {
    const member = await join(room, host.organizationId, 'Already', 'viewer');
    const token = await room.invite(host.organizationId, member.email, 'admin');
    assert.equal((await accept(token, {}, member.browser)).code, 'conflict');
    const row = (await membersOf()).find((each) => each.user_id === member.userId);
    assert.equal(row?.role, 'viewer');
  });

  it('takes no place that the plan does not have, also when two come for the last one', async () => {
    await room.db
      .deleteFrom('organization_members')
      .where('organization_id', '=', host.organizationId)
      .where('user_id', '!=', host.userId)
      .execute();
    await setPlan('free');
    const tokens = await Promise.all(
      ['one', 'two', 'three', 'four'].map((name) =>
        room.invite(host.organizationId, `${name}@example.com`, 'viewer'),
      ),
    );
    const answers = await Promise.all(tokens.map((token) => accept(token)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 403, 403]);
    assert.equal(answers.find(({ status }) => status === 403)?.code, 'entitlement_missing');
    assert.equal((await membersOf()).length, 3);
    const users = await room.db
      .selectFrom('users')
      .select('id')
      .where('email', 'in', ['one@example.com', 'two@example.com', 'three@example.com', 'four@example.com'])
      .execute();
    assert.equal(users.length, 2, 'whoever was refused has no account');
  });
});
