import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Answer, type ConsoleFixture, join, PASSWORD, signIn, signUp, startConsole } from './fixture.ts';

const messageOf = ({ body }: Answer) => (body['error'] as { message: string } | undefined)?.message ?? '';
const homeOf = ({ body }: Answer) => (body['org'] as { id: string } | undefined)?.id;

function removeFrom(room: ConsoleFixture, organizationId: string, userId: string) {
  return room.db
    .deleteFrom('organization_members')
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .execute();
}

function verify(room: ConsoleFixture, userId: string, email_verified: boolean) {
  return room.db.updateTable('users').set({ email_verified }).where('id', '=', userId).execute();
}

describe('a user without an active membership, hosted', () => {
  let room: ConsoleFixture;
  let host: Awaited<ReturnType<typeof signUp>>;
  before(async () => {
    room = await startConsole({ mode: 'hosted' });
    host = await signUp(room, 'Host');
    await room.db.updateTable('organizations').set({ plan: 'team' }).execute();
  });
  after(() => room.close());

  async function removed(name: string) {
    const member = await join(room, host.organizationId, name);
    await removeFrom(room, host.organizationId, member.userId);
    return member;
  }
  const found = (email: string, browser = room.browser()) =>
    signIn(browser, email, { organization_name: 'Their own' });

  it('joins with an invitation and their password, and with their second factor if they have one', async () => {
    const member = await removed('Back');
    const token = await room.invite(host.organizationId, member.email, 'viewer');
    const accept = (more: object) =>
      room.browser().send('POST', '/api/invitations/accept', { token, ...more });
    assert.equal((await accept({ password: 'not their password' })).code, 'invalid_credentials');
    await room.db
      .updateTable('users')
      .set({ two_factor_enabled: true })
      .where('id', '=', member.userId)
      .execute();
    assert.equal((await accept({ password: PASSWORD })).code, 'totp_required');
    assert.equal((await accept({ password: PASSWORD, totp_code: '000000' })).code, 'invalid_credentials');
    await room.db
      .updateTable('users')
      .set({ two_factor_enabled: false })
      .where('id', '=', member.userId)
      .execute();
    const joined = await accept({ password: PASSWORD });
    assert.deepEqual(
      [joined.status, homeOf(joined), joined.body['role']],
      [201, host.organizationId, 'viewer'],
    );
  });

  it('joins by signing in only if the address is proven to be theirs', async () => {
    const member = await removed('Proven');
    await room.invite(host.organizationId, member.email, 'viewer');
    assert.match(messageOf(await signIn(room.browser(), member.email)), /not a member of any organization/);
    await verify(room, member.userId, true);
    const signedIn = await signIn(room.browser(), member.email);
    assert.deepEqual([signedIn.status, homeOf(signedIn)], [201, host.organizationId]);
  });

  it('joins the next organization that invited them when the first one is full', async () => {
    const member = await removed('Full');
    await verify(room, member.userId, true);
    const full = await signUp(room, 'Fullhouse');
    for (const name of ['Second', 'Third']) await join(room, full.organizationId, name);
    await room.invite(full.organizationId, member.email, 'viewer');
    const refused = await signIn(room.browser(), member.email);
    assert.deepEqual([refused.status, refused.code], [403, 'entitlement_missing']);
    await room.invite(host.organizationId, member.email, 'viewer');
    assert.equal(homeOf(await signIn(room.browser(), member.email)), host.organizationId);
  });

  it('founds one organization of their own, also by concurrent requests', async () => {
    const member = await removed('Founder');
    const refused = await signIn(room.browser(), member.email);
    assert.deepEqual([refused.status, refused.code], [403, 'permission_denied']);
    assert.match(messageOf(refused), /`organization_name`/);
    const answers = await Promise.all(Array.from({ length: 4 }, () => found(member.email)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409]);
    const made = answers.find(({ status }) => status === 201);
    assert.equal(made?.body['role'], 'owner');
    const again = await signIn(room.browser(), member.email);
    assert.equal(homeOf(again), made && homeOf(made));
  });

  it('who is suspended signs in, learns where, and may still found their own', async () => {
    const member = await join(room, host.organizationId, 'Suspended');
    await room.db
      .updateTable('organization_members')
      .set({ status: 'suspended' })
      .where('user_id', '=', member.userId)
      .execute();
    await verify(room, member.userId, true);
    // An invitation does not lift a suspension.
    await room.invite(host.organizationId, member.email, 'owner');
    const browser = room.browser();
    const signedIn = await signIn(browser, member.email);
    assert.deepEqual([homeOf(signedIn), signedIn.body['suspended']], [host.organizationId, true]);
    const refused = await browser.send('GET', '/api/account');
    assert.match(
      messageOf(refused),
      /^Your access is suspended\. Ask an owner or admin of the organization to restore it\./,
    );
    assert.equal((await found(member.email)).status, 201);
  });

  it('whose account is suspended everywhere neither joins nor founds', async () => {
    const member = await removed('Banned');
    await room.db
      .updateTable('users')
      .set({ status: 'suspended', email_verified: true })
      .where('id', '=', member.userId)
      .execute();
    const token = await room.invite(host.organizationId, member.email, 'viewer');
    const answers = [
      await signIn(room.browser(), member.email),
      await found(member.email),
      await room.browser().send('POST', '/api/invitations/accept', { token, password: PASSWORD }),
    ];
    for (const answer of answers) {
      assert.deepEqual([answer.status, answer.code], [403, 'permission_denied']);
      assert.match(messageOf(answer), /suspended in the whole deployment/);
    }
  });
});

describe('a user without a membership, self-hosted', () => {
  let room: ConsoleFixture;
  before(async () => {
    room = await startConsole();
  });
  after(() => room.close());

  it('comes back by signing in once invited, and cannot found an organization', async () => {
    const { organizationId } = room.owner;
    const member = await join(room, organizationId, 'Returning');
    await removeFrom(room, organizationId, member.userId);
    const refused = await signIn(room.browser(), member.email);
    assert.match(messageOf(refused), /Ask an owner or admin for an invitation, and open its link\.$/);
    const founded = await signIn(room.browser(), member.email, { organization_name: 'Another' });
    assert.equal(founded.code, 'mode_unsupported');
    await room.invite(organizationId, member.email, 'admin');
    const back = await signIn(room.browser(), member.email);
    assert.deepEqual([back.status, homeOf(back), back.body['role']], [201, organizationId, 'admin']);
  });
});
