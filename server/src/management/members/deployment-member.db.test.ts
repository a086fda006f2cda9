import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import type { Caller } from '../../domain/caller.ts';
import { ensureImplicitOrganization } from '../../store/configuration/implicit-organization.ts';
import { addMember, type ManagementFixture, refusal, startManagement } from '../fixture.ts';

const ACCOUNTS = { mode: 'self_hosted', accounts: true, version: '0.0.0' } as const;
const asSession = (caller: Caller): Caller => ({ ...caller, kind: 'session', sessionId: caller.userId });

describe('the admin token', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let token: Caller;
  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, { deployment: ACCOUNTS });
    token = { ...room.acme, ...(await ensureImplicitOrganization(room.db)) };
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  it('is no member: not listed, not found, and no owner whom the last one could leave to it', async () => {
    const founder = await addMember(room, token, 'owner');
    const { body } = await room.call('listMembers', founder);
    assert.deepEqual(
      body.map(({ id }) => id),
      [founder.userId],
    );
    const id = token.userId;
    for (const caller of [founder, token]) {
      const missing = refusal('not_found');
      await assert.rejects(room.call('removeMember', caller, { id }), missing);
      await assert.rejects(room.call('updateMember', caller, { id, body: { role: 'viewer' } }), missing);
      await assert.rejects(room.call('updateMember', caller, { id, body: { status: 'suspended' } }), missing);
    }
    const key = { user_uuid: id, name: 'k', scopes: ['relay:request'] };
    await assert.rejects(
      room.call('createOrgApiKey', founder, { body: key }),
      refusal('not_found', 'user_uuid'),
    );
    await assert.rejects(room.call('leaveOrganization', asSession(founder)), refusal('conflict'));
    await assert.rejects(
      room.call('leaveOrganization', { ...asSession(token), isAdminSession: true }),
      refusal('conflict', undefined, /Sign out instead/),
    );
    // The token keeps the organization.
    await room.call('removeMember', token, { id: founder.userId });
  });

  it('keeps its row against an earlier version, and ends only with the organization', async () => {
    const row = () =>
      room.db.selectFrom('organization_members').selectAll().where('user_id', '=', token.userId);
    const before = await row().execute();
    const changed = /cannot be changed/;
    const ofToken = room.db.updateTable('organization_members').where('user_id', '=', token.userId);
    await assert.rejects(ofToken.set({ role: 'viewer' }).execute(), changed);
    await assert.rejects(ofToken.set({ status: 'suspended' }).execute(), changed);
    const removal = room.db.deleteFrom('organization_members').where('user_id', '=', token.userId);
    await assert.rejects(removal.execute(), changed);
    assert.deepEqual(await row().execute(), before);
    await room.db.deleteFrom('organizations').where('id', '=', token.organizationId).execute();
    assert.deepEqual(await row().execute(), []);
  });
});

describe('members of a deployment without accounts', () => {
  it('are the one that the tokens act for, whom nobody changes', async () => {
    const database = await freshDatabase();
    const room = await startManagement(database.url);
    try {
      const token = { ...room.acme, ...(await ensureImplicitOrganization(room.db)) };
      const { body } = await room.call('listMembers', token);
      assert.deepEqual(
        body.map(({ id, role }) => [id, role]),
        [[token.userId, 'owner']],
      );
      const id = room.acme.userId;
      const disabled = refusal('accounts_disabled');
      await assert.rejects(room.call('updateMember', room.acme, { id, body: { role: 'viewer' } }), disabled);
      await assert.rejects(room.call('removeMember', room.acme, { id }), disabled);
    } finally {
      await room.close();
      await database.drop();
    }
  });
});
