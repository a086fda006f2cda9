import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import type { Caller } from '../../domain/caller.ts';
import { ensureImplicitOrganization } from '../../store/configuration/implicit-organization.ts';
import { addMember, asKey, type ManagementFixture, refusal, startManagement } from '../fixture.ts';

const deployments = [
  { mode: 'self_hosted', accounts: false, version: '1.0.0' },
  { mode: 'self_hosted', accounts: true, version: '1.0.0' },
  { mode: 'hosted', accounts: true, version: '1.0.0' },
] as const;

for (const deployment of deployments) {
  describe(`the account, ${deployment.mode} ${deployment.accounts ? 'with' : 'without'} accounts`, () => {
    let database: FreshDatabase;
    let room: ManagementFixture;

    before(async () => {
      database = await freshDatabase();
      room = await startManagement(database.url, { deployment });
    });
    after(async () => {
      await room.close();
      await database.drop();
    });

    const read = async (caller: Caller) => (await room.call('getAccount', caller)).body;

    it('is that of the implicit owner for a token', async () => {
      const implicit = await ensureImplicitOrganization(room.db);
      assert.deepEqual(await read({ ...room.acme, ...implicit }), {
        user: {
          id: implicit.userId,
          name: 'Owner',
          email: 'owner@localhost',
          status: 'active',
          marketing_opt_in: false,
        },
        org: { id: implicit.organizationId, name: 'Default' },
        role: 'owner',
      });
    });

    it('is that of the owner for each of their keys and sessions', async () => {
      for (const role of ['owner', 'admin', 'developer', 'viewer', 'billing'] as const) {
        const member = await addMember(room, room.acme, role);
        const account = await read(member);
        assert.equal(account.user.id, member.userId);
        assert.deepEqual([account.org.id, account.role], [room.acme.organizationId, role]);
        assert.deepEqual(await read(asKey(member, ['relay:request'])), account);
      }
    });

    it('is renamed, and its preferences change, each leaving the rest alone', async () => {
      const { user } = await read(room.acme);
      const renamed = await room.call('updateAccount', room.acme, { body: { name: 'Ada Lovelace' } });
      assert.deepEqual(renamed.body, { user: { ...user, name: 'Ada Lovelace' } });
      const body = { marketing_opt_in: true };
      const opted = await room.call('updatePreferences', room.acme, { body });
      assert.deepEqual(opted.body, { user: { ...user, name: 'Ada Lovelace', marketing_opt_in: true } });
      assert.deepEqual((await read(room.acme)).user, opted.body.user);
      await assert.rejects(
        room.call('updateAccount', room.acme, { body: { name: 'a\0b' } }),
        refusal('invalid_request', 'name'),
      );
    });

    it('with If-Match changes only at the version that was read', async () => {
      const { headers: tags } = await room.call('getAccount', room.globex);
      const headers = { 'if-match': tags.get('ETag') ?? '' };
      const first = await room.call('updateAccount', room.globex, { body: { name: 'First' }, headers });
      assert.notEqual(first.headers.get('ETag'), headers['if-match']);
      const body = { marketing_opt_in: true };
      const second = room.call('updatePreferences', room.globex, { body, headers });
      await assert.rejects(second, refusal('version_conflict'));
      assert.equal((await read(room.globex)).user.marketing_opt_in, false);
    });

    it('leaves one audit entry for each change, of what changed and no more of the person', async () => {
      const member = await addMember(room, room.acme, 'viewer');
      const body = { marketing_opt_in: true };
      const { requestId } = await room.call('updatePreferences', member, { body });
      const entries = await room.db
        .selectFrom('audit_log')
        .selectAll()
        .where('request_id', '=', requestId)
        .execute();
      assert.equal(entries.length, 1);
      const [entry] = entries;
      assert.deepEqual(
        [entry?.organization_id, entry?.action, entry?.target_id, entry?.actor_user_id],
        [room.acme.organizationId, 'account.update', member.userId, member.userId],
      );
      assert.deepEqual(entry?.before, { name: 'viewer', marketing_opt_in: false });
      assert.deepEqual(entry?.after, { name: 'viewer', marketing_opt_in: true });
    });

    it('of a person in two organizations is told by the one that is asked', async () => {
      const member = await addMember(room, room.acme, 'developer');
      const { organizationId } = room.globex;
      await room.db
        .insertInto('organization_members')
        .values({ organization_id: organizationId, user_id: member.userId, role: 'billing' })
        .execute();
      const there = await read({ ...member, organizationId });
      assert.deepEqual([there.org.name, there.role], ['globex', 'billing']);
      const here = await read(member);
      assert.deepEqual([here.org.name, here.role], ['acme', 'developer']);
    });

    it('of somebody who is not in the organization is neither read nor changed', async () => {
      const stranger = { ...room.acme, userId: room.globex.userId };
      await assert.rejects(read(stranger), refusal('not_found'));
      const rename = room.call('updateAccount', stranger, { body: { name: 'Taken' } });
      await assert.rejects(rename, refusal('not_found'));
      assert.notEqual((await read(room.globex)).user.name, 'Taken');
    });

    it('has an empty billing history', async () => {
      const { body } = await room.call('getBillingHistory', room.acme);
      assert.deepEqual(body, { invoices: [], payments: [], refunds: [], disputes: [], activities: [] });
    });
  });
}
