import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { allScopes, type RouteBody } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import type { RoleName } from '../../domain/access.ts';
import type { Caller } from '../../domain/caller.ts';
import { RelayError } from '../../domain/relay-error.ts';
import { namesOf } from '../../store/configuration/names-of.ts';
import { addMember, asKey, type ManagementFixture, refusal, startManagement } from '../fixture.ts';

const ACCOUNTS = { mode: 'self_hosted', accounts: true, version: '0.0.0' } as const;

const asSession = (caller: Caller): Caller => ({ ...caller, kind: 'session', sessionId: caller.userId });

describe('members', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let owner: Caller;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, { deployment: ACCOUNTS });
    owner = room.acme;
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  const update = (caller: Caller, { userId }: { userId: string }, body: RouteBody<'updateMember'>) =>
    room.call('updateMember', caller, { id: userId, body });
  const remove = (caller: Caller, { userId }: { userId: string }) =>
    room.call('removeMember', caller, { id: userId });
  const shown = async ({ userId }: { userId: string }, caller = owner) =>
    (await room.call('listMembers', caller)).body.find(({ id }) => id === userId);

  async function addKey({ organizationId, userId }: Caller, last_used_at: Date | null): Promise<string> {
    const id = randomUUIDv7();
    await room.db
      .insertInto('api_keys')
      .values({
        organization_id: organizationId,
        id,
        user_id: userId,
        name: 'key',
        public_id: id.replaceAll('-', '').slice(-10),
        secret_hmac: Buffer.alloc(32),
        scopes: ['relay:request'],
        last_used_at,
      })
      .execute();
    return id;
  }

  it('are listed with role, status and when a key of theirs was last used', async () => {
    const developer = await addMember(room, owner, 'developer');
    assert.equal((await shown(developer))?.last_seen_at, null);
    const newest = new Date('2026-10-02T03:04:05.678Z');
    await addKey(developer, new Date('2026-10-01T00:00:00Z'));
    await addKey(developer, newest);
    await addKey(developer, null);
    const member = await shown(developer);
    assert.deepEqual(
      { ...member, joined_at: typeof member?.joined_at },
      {
        id: developer.userId,
        name: 'developer',
        email: `${developer.userId}@example.com`,
        role: 'developer',
        status: 'active',
        joined_at: 'string',
        last_seen_at: newest.toISOString(),
        team_id: null,
        etag: '"1"',
      },
    );
  });

  it('are walked in pages without a duplicate or a gap, and only those of the own organization', async () => {
    const caller = room.globex;
    const added = [caller.userId];
    for (let index = 0; index < 6; index += 1) added.push((await addMember(room, caller, 'viewer')).userId);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const query = cursor === undefined ? { limit: 3 } : { limit: 3, cursor };
      const page = await room.call('listMembers', caller, { query });
      seen.push(...page.body.map(({ id }) => id));
      cursor = page.headers.get('X-Next-Cursor');
    } while (cursor !== undefined);
    assert.deepEqual(seen, added.sort());
  });

  it('get another role, which is fenced, in the snapshot and in the audit log before the answer', async () => {
    const member = await addMember(room, owner, 'admin');
    const raisedBefore = room.raised.length;
    const { body, headers, requestId } = await update(owner, member, { role: 'viewer' });
    assert.equal(body.role, 'viewer');
    assert.ok(headers.has('ETag'));
    assert.deepEqual(room.raised.slice(raisedBefore), [
      { organizationId: owner.organizationId, version: await room.configVersion(owner) },
    ]);
    const known = (await room.snapshots.load(owner.organizationId)).members.get(member.userId);
    assert.equal(known?.role, 'viewer');
    const entry = await room.db
      .selectFrom('audit_log')
      .selectAll()
      .where('request_id', '=', requestId)
      .executeTakeFirstOrThrow();
    const email = `${member.userId}@example.com`;
    assert.deepEqual(
      [entry.action, entry.target_id, entry.before, entry.after],
      [
        'member.update',
        member.userId,
        { name: 'admin', email, role: 'admin', status: 'active', team_id: null },
        { name: 'admin', email, role: 'viewer', status: 'active', team_id: null },
      ],
    );
  });

  it('are suspended and let in again, and cannot be made invited', async () => {
    const member = await addMember(room, owner, 'developer');
    assert.equal((await update(owner, member, { status: 'suspended' })).body.status, 'suspended');
    const snapshot = await room.snapshots.load(owner.organizationId);
    assert.equal(snapshot.members.get(member.userId)?.status, 'suspended');
    assert.equal((await update(owner, member, { status: 'active' })).body.status, 'active');
    await assert.rejects(update(owner, member, { status: 'invited' }), refusal('invalid_request', 'status'));
  });

  const statusesOf = async (...ids: string[]) => {
    const { body } = await room.call('listOrgApiKeys', owner);
    return ids.map((id) => body.find((key) => key.id === id)?.status);
  };
  const actionsOf = async (requestId: string) => {
    const entries = await room.db
      .selectFrom('audit_log')
      .select(['action', 'target_id'])
      .where('request_id', '=', requestId)
      .orderBy('action')
      .execute();
    return entries.map(({ action, target_id }) => [action, target_id]);
  };

  it('are removed, and their keys stay in the list, revoked, each with an audit entry', async () => {
    const member = await addMember(room, owner, 'developer');
    const sibling = await addKey(owner, null);
    const key = await addKey(member, null);
    const { requestId } = await remove(owner, member);
    assert.equal(await shown(member), undefined);
    assert.equal((await room.snapshots.load(owner.organizationId)).members.has(member.userId), false);
    assert.deepEqual(await statusesOf(key, sibling), ['revoked', 'active']);
    assert.deepEqual(await actionsOf(requestId), [
      ['api_key.revoke', key],
      ['member.delete', member.userId],
    ]);
    await assert.rejects(remove(owner, member), refusal('not_found'));
  });

  it('keep the name that they had in the organization’s history', async () => {
    const member = await addMember(room, owner, 'developer');
    const named = () => namesOf(room.db, owner.organizationId, 'user', [member.userId, owner.userId]);
    const before = await named();
    await remove(owner, member);
    await room.db.updateTable('users').set({ name: 'Elsewhere' }).where('id', '=', member.userId).execute();
    assert.deepEqual(new Map(await named()), new Map(before));
    assert.equal((await namesOf(room.db, room.globex.organizationId, 'user', [member.userId])).size, 0);
  });

  it('leave by themselves, whatever their role, also while suspended', async () => {
    for (const role of ['admin', 'developer', 'viewer', 'billing'] as const) {
      const member = await addMember(room, owner, role);
      const key = await addKey(member, null);
      if (role === 'viewer') await update(owner, member, { status: 'suspended' });
      const { requestId } = await room.call('leaveOrganization', asSession(member));
      assert.equal(await shown(member), undefined);
      assert.deepEqual(await statusesOf(key), ['revoked']);
      assert.deepEqual(await actionsOf(requestId), [
        ['api_key.revoke', key],
        ['member.delete', member.userId],
      ]);
    }
  });

  it('which an earlier version removes leave the same behind', async () => {
    const member = await addMember(room, owner, 'developer');
    const key = await addKey(member, null);
    await room.db.deleteFrom('organization_members').where('user_id', '=', member.userId).execute();
    assert.deepEqual(await statusesOf(key), ['revoked']);
    assert.equal((await namesOf(room.db, owner.organizationId, 'user', [member.userId])).size, 1);
  });

  it('with If-Match change only in the version that was read', async () => {
    const member = await addMember(room, owner, 'viewer');
    const first = await update(owner, member, { role: 'billing' });
    await update(owner, member, { role: 'viewer' });
    await assert.rejects(
      room.call('updateMember', owner, {
        id: member.userId,
        body: { role: 'developer' },
        headers: { 'if-match': first.headers.get('ETag') ?? '' },
      }),
      refusal('version_conflict'),
    );
  });

  it('who are owners are made, changed and removed by owners alone', async () => {
    const admin = await addMember(room, owner, 'admin');
    const other = await addMember(room, owner, 'owner');
    const denied = refusal('permission_denied', undefined, /Only owners/);
    await assert.rejects(update(admin, admin, { role: 'owner' }), denied);
    await assert.rejects(update(admin, other, { role: 'viewer' }), denied);
    await assert.rejects(update(admin, other, { status: 'suspended' }), denied);
    await assert.rejects(remove(admin, other), denied);
    await update(owner, admin, { role: 'owner' });
    await update(owner, other, { role: 'viewer' });
    await remove(owner, admin);
  });

  it('are changed by what the caller is now, not by what the door last saw', async () => {
    const target = await addMember(room, owner, 'viewer');
    for (const role of ['developer', 'viewer', 'billing'] satisfies RoleName[]) {
      const admin = await addMember(room, owner, 'admin');
      await update(owner, admin, { role });
      await assert.rejects(update(admin, target, { role: 'viewer' }), refusal('permission_denied'));
      await assert.rejects(update(admin, admin, { role: 'admin' }), refusal('permission_denied'));
      await assert.rejects(remove(admin, target), refusal('permission_denied'));
    }
    const suspended = await addMember(room, owner, 'admin');
    await update(owner, suspended, { status: 'suspended' });
    await assert.rejects(update(suspended, suspended, { status: 'active' }), refusal('permission_denied'));
  });

  it('are changed by a key only when it carries all that its owner may do', async () => {
    const target = await addMember(room, owner, 'viewer');
    const narrow = asKey(owner, ['cloud:members:read', 'cloud:members:manage']);
    await assert.rejects(
      update(narrow, target, { role: 'developer' }),
      refusal('permission_denied', undefined, /all of its owner’s current permissions/),
    );
    assert.equal((await shown(target))?.role, 'viewer');
    await update(asKey(owner, allScopes), target, { role: 'developer' });
    await remove(narrow, target);
  });

  it('of another organization, and who never were, get the same 404', async () => {
    for (const id of [room.globex.userId, randomUUIDv7(), 'nobody']) {
      await assert.rejects(update(owner, { userId: id }, { role: 'viewer' }), refusal('not_found'));
      await assert.rejects(remove(owner, { userId: id }), refusal('not_found'));
    }
    assert.equal((await shown(room.globex, room.globex))?.role, 'owner');
  });

  it('keep their change when the fence cannot be raised, and a repeat raises it', async () => {
    const down = { now: true };
    const raised: number[] = [];
    const apart = await freshDatabase();
    const other = await startManagement(apart.url, {
      deployment: ACCOUNTS,
      fences: {
        raise: async (_, version) => {
          if (down.now) throw new RelayError('store_unavailable');
          raised.push(version);
        },
      },
    });
    try {
      const member = await addMember(other, other.acme, 'developer');
      const suspend = () =>
        other.call('updateMember', other.acme, { id: member.userId, body: { status: 'suspended' } });
      await assert.rejects(suspend(), refusal('store_unavailable'));
      down.now = false;
      assert.equal((await suspend()).body.status, 'suspended');
      assert.deepEqual(raised, [await other.configVersion(other.acme)]);
    } finally {
      await other.close();
      await apart.drop();
    }
  });
});

describe('the last owner', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, { deployment: ACCOUNTS });
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  const last = refusal('conflict', undefined, /last active owner.*Make another member an owner first/);

  it('cannot be demoted, suspended or removed', async () => {
    const { acme } = room;
    const id = acme.userId;
    await assert.rejects(room.call('updateMember', acme, { id, body: { role: 'admin' } }), last);
    await assert.rejects(room.call('updateMember', acme, { id, body: { status: 'suspended' } }), last);
    await assert.rejects(room.call('removeMember', acme, { id }), last);
    // A suspended owner cannot act, so the organization still needs another.
    const other = await addMember(room, acme, 'owner');
    await room.call('updateMember', acme, { id: other.userId, body: { status: 'suspended' } });
    await assert.rejects(room.call('removeMember', acme, { id }), last);
    await room.call('updateMember', acme, { id: other.userId, body: { status: 'active' } });
    await room.call('removeMember', acme, { id });
  });

  it('is left when all owners go at the same moment', async () => {
    const owners = [room.globex];
    for (let index = 0; index < 9; index += 1) owners.push(await addMember(room, room.globex, 'owner'));
    const results = await Promise.allSettled(
      owners.map((owner, index) => {
        const id = owner.userId;
        if (index % 3 === 0) return room.call('removeMember', owner, { id });
        const body = index % 3 === 1 ? ({ role: 'viewer' } as const) : ({ status: 'suspended' } as const);
        return room.call('updateMember', owner, { id, body });
      }),
    );
    const refused = results.filter((result) => result.status === 'rejected');
    assert.equal(refused.length, 1);
    last(refused[0]?.reason);
    const left = await room.db
      .selectFrom('organization_members')
      .select('user_id')
      .where('organization_id', '=', room.globex.organizationId)
      .where('role', '=', 'owner')
      .where('status', '=', 'active')
      .execute();
    assert.equal(left.length, 1);
  });
});
