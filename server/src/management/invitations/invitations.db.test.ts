import assert from 'node:assert/strict';
import { createHash, randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { allScopes } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import type { RoleName } from '../../domain/access.ts';
import type { Caller } from '../../domain/caller.ts';
import { addMember, asKey, type ManagementFixture, onPlan, refusal, startManagement } from '../fixture.ts';

const DAY_MS = 86_400_000;

describe('invitations', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let owner: Caller;
  const offset = { ms: 0 };

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, {
      deployment: { mode: 'hosted', accounts: true, version: '0.0.0' },
      clock: { nowMs: () => Date.now() + offset.ms, monotonicMs: () => performance.now() },
    });
    owner = room.acme;
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  const invite = (caller: Caller, email: string, role: RoleName = 'viewer') =>
    room.call('createInvitation', caller, { body: { email, role } });
  const withdraw = (caller: Caller, id: string) => room.call('deleteInvitation', caller, { id });
  const shown = async (id: string, caller = owner) =>
    (await room.call('listInvitations', caller)).body.find((invitation) => invitation.id === id);
  const rowOf = (id: string) =>
    room.db.selectFrom('invitations').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

  it('show their link once, in a fragment, and keep only its digest', async () => {
    const { body, requestId } = await invite(owner, 'Ada@Example.com', 'developer');
    const [address, token = ''] = body.accept_url.split('#token=');
    assert.equal(address, 'https://relay.example.com/accept-invitation');
    assert.equal(Buffer.from(token, 'base64url').length, 32);
    const { invitation } = body;
    assert.deepEqual(
      { ...invitation, id: '', created_at: '', expires_at: '' },
      {
        id: '',
        email: 'Ada@Example.com',
        role: 'developer',
        status: 'pending',
        invited_by: owner.userId,
        created_at: '',
        expires_at: '',
        etag: '"1"',
      },
    );
    assert.equal(Date.parse(invitation.expires_at) - Date.parse(invitation.created_at), 7 * DAY_MS);
    assert.deepEqual(await shown(invitation.id), invitation);

    const row = await rowOf(invitation.id);
    assert.deepEqual(row.token_hash, createHash('sha256').update(token).digest());
    const entry = await room.db
      .selectFrom('audit_log')
      .selectAll()
      .where('request_id', '=', requestId)
      .executeTakeFirstOrThrow();
    assert.equal(entry.action, 'invitation.create');
    const kept = JSON.stringify([entry, { ...row, token_hash: null }]);
    assert.ok(!kept.includes(token) && !kept.includes(row.token_hash.toString('hex')));
  });

  it('are one for each open address, whoever asks at the same moment and however it is written', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        invite(owner, index % 2 === 0 ? 'bob@example.com' : 'BOB@example.com'),
      ),
    );
    const refused = results.filter((result) => result.status === 'rejected');
    assert.equal(refused.length, 19);
    for (const { reason } of refused) refusal('conflict', 'email', /still open/)(reason);
    // Another organization may invite the same person.
    await invite(room.globex, 'bob@example.com');
  });

  it('are not for somebody who is a member already', async () => {
    const member = await addMember(room, owner, 'viewer');
    await assert.rejects(
      invite(owner, `${member.userId.toUpperCase()}@example.com`),
      refusal('conflict', 'email', /A member of this organization/),
    );
    await invite(room.globex, `${member.userId}@example.com`);
  });

  it('disappear when withdrawn, and make room for another', async () => {
    const { body } = await invite(owner, 'carol@example.com');
    await assert.rejects(withdraw(room.globex, body.invitation.id), refusal('not_found'));
    const { requestId } = await withdraw(owner, body.invitation.id);
    assert.equal(await shown(body.invitation.id), undefined);
    const entry = await room.db
      .selectFrom('audit_log')
      .select(['action', 'after'])
      .where('request_id', '=', requestId)
      .executeTakeFirstOrThrow();
    assert.deepEqual(entry, { action: 'invitation.delete', after: null });
    for (const id of [body.invitation.id, randomUUIDv7(), 'none']) {
      await assert.rejects(withdraw(owner, id), refusal('not_found'));
    }
    await invite(owner, 'carol@example.com');
  });

  it('expire after seven days, and the same address can be invited again', async () => {
    const { body } = await invite(owner, 'dan@example.com');
    try {
      offset.ms = 7 * DAY_MS - 60_000;
      assert.equal((await shown(body.invitation.id))?.status, 'pending');
      await assert.rejects(invite(owner, 'dan@example.com'), refusal('conflict', 'email'));
      offset.ms = 7 * DAY_MS + 1;
      assert.equal((await shown(body.invitation.id))?.status, 'expired');
      const again = await invite(owner, 'dan@example.com');
      assert.equal(again.body.invitation.status, 'pending');
      assert.notEqual(again.body.accept_url, body.accept_url);
    } finally {
      offset.ms = 0;
    }
  });

  it('that were accepted are shown for a month and cannot be withdrawn', async () => {
    const { body } = await invite(owner, 'eve@example.com');
    const { id } = body.invitation;
    await room.db.updateTable('invitations').set({ accepted_at: new Date() }).where('id', '=', id).execute();
    assert.equal((await shown(id))?.status, 'accepted');
    await assert.rejects(withdraw(owner, id), refusal('conflict', undefined, /Remove the member instead/));
    try {
      offset.ms = 30 * DAY_MS + 60_000;
      assert.equal(await shown(id), undefined);
    } finally {
      offset.ms = 0;
    }
  });

  it('promise no more than the caller may give', async () => {
    const admin = await addMember(room, owner, 'admin');
    await invite(admin, 'frank@example.com', 'admin');
    await assert.rejects(
      invite(admin, 'grace@example.com', 'owner'),
      refusal('permission_denied', undefined, /Only owners/),
    );
    await room.call('updateMember', owner, { id: admin.userId, body: { role: 'developer' } });
    await assert.rejects(invite(admin, 'grace@example.com'), refusal('permission_denied'));
    await assert.rejects(
      invite(asKey(owner, ['cloud:members:manage']), 'grace@example.com'),
      refusal('permission_denied', undefined, /all of its owner’s current permissions/),
    );
    await invite(asKey(owner, allScopes), 'grace@example.com', 'owner');
  });

  it('take a place of the plan until they are withdrawn or expire', async () => {
    const caller = await onPlan(room, room.globex, 'free');
    await room.db
      .updateTable('invitations')
      .set({ revoked_at: new Date() })
      .where('organization_id', '=', caller.organizationId)
      .execute();
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => invite(caller, `member-${index}@example.com`)),
    );
    const made = results.filter((result) => result.status === 'fulfilled');
    // The plan allows three members, and the owner is one.
    assert.equal(made.length, 2);
    for (const result of results) {
      if (result.status === 'rejected') refusal('entitlement_missing', undefined, /3 members/)(result.reason);
    }
    await withdraw(caller, made[0]?.value.body.invitation.id ?? '');
    await invite(caller, 'in-its-place@example.com');
  });

  it('do not exist without accounts', async () => {
    const apart = await freshDatabase();
    const other = await startManagement(apart.url);
    try {
      assert.deepEqual((await other.call('listInvitations', other.acme)).body, []);
      const body = { email: 'a@example.com', role: 'viewer' } as const;
      const disabled = refusal('accounts_disabled');
      await assert.rejects(other.call('createInvitation', other.acme, { body }), disabled);
      await assert.rejects(other.call('deleteInvitation', other.acme, { id: randomUUIDv7() }), disabled);
    } finally {
      await other.close();
      await apart.drop();
    }
  });
});
