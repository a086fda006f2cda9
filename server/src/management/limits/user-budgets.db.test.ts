import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { ErrorCode, UserLimitPolicy, UserLimitPolicyUpsert } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { sql } from 'kysely';
import type { Caller } from '../../domain/caller.ts';
import {
  addMember,
  addOneOfEach,
  asKey,
  lockIsAwaited,
  type ManagementFixture,
  refusal,
  startManagement,
} from '../fixture.ts';

const WITH_ACCOUNTS = { mode: 'self_hosted', accounts: true, version: '0.0.0' } as const;

describe('user budgets', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let ids: Awaited<ReturnType<typeof addOneOfEach>>;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, { deployment: WITH_ACCOUNTS });
    ids = await addOneOfEach(room, room.acme);
    await room.snapshots.load(room.acme.organizationId);
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  const newMember = () => addMember(room, room.acme, 'developer');
  const budgetOf = (
    { userId }: Caller,
    over: Partial<UserLimitPolicyUpsert> = {},
  ): UserLimitPolicyUpsert => ({
    user_uuid: userId,
    target_type: 'global',
    metric: 'tokens',
    period: 'day',
    limit_value: 1_000,
    unpriced: 'refuse',
    enforcement: 'estimate',
    alert_at: [],
    alert_on_forecast: false,
    enabled: true,
    ...over,
  });
  const upsert = (body: UserLimitPolicyUpsert, caller = room.acme, headers = {}) =>
    room.call('upsertUserLimitPolicy', caller, { body, headers });
  const listed = async (member: Caller, caller = room.acme): Promise<UserLimitPolicy[]> => {
    const { body } = await room.call('listUserLimitPolicies', caller);
    return body.policies.filter(({ user_uuid }) => user_uuid === member.userId);
  };
  async function made(member: Caller, over: Partial<UserLimitPolicyUpsert> = {}): Promise<UserLimitPolicy> {
    const before = await listed(member);
    await upsert(budgetOf(member, over));
    const [created] = (await listed(member)).filter(({ id }) => before.every((known) => known.id !== id));
    assert.ok(created);
    return created;
  }

  it('answer only that it is done when they are made; the id comes from the list', async () => {
    const member = await newMember();
    const { body } = await upsert(budgetOf(member));
    assert.deepEqual(body, { ok: true });
    const [policy, ...others] = await listed(member);
    assert.ok(policy);
    assert.deepEqual(policy, {
      id: policy.limit_uuid,
      limit_uuid: policy.id,
      ...budgetOf(member),
      target_id: null,
      etag: '"1"',
    });
    assert.deepEqual(others, []);
  });

  it('are on everything, a provider, a model or a lane, and each is in force at once', async () => {
    const member = await newMember();
    const targets = [
      ['global', null],
      ['provider', ids.provider.id],
      ['model', ids.endpoint.id],
      ['lane', ids.lane.id],
    ] as const;
    for (const [target_type, target_id] of targets) {
      const policy = await made(member, { target_type, target_id });
      assert.deepEqual([policy.target_type, policy.target_id], [target_type, target_id]);
    }
    const snapshot = room.snapshots.get(room.acme.organizationId);
    assert.deepEqual(
      snapshot?.userPolicies.get(member.userId)?.map(({ targetType, targetId }) => [targetType, targetId]),
      targets.map((each) => [...each]),
    );
  });

  it('change to the new values when they are sent with their limit_uuid', async () => {
    const member = await newMember();
    const { limit_uuid } = await made(member);
    const changes = [
      { limit_value: 5 },
      { enabled: false },
      { metric: 'spend', period: 'month' },
      { target_type: 'lane', target_id: ids.lane.id },
    ] as const;
    for (const [index, change] of changes.entries()) {
      await upsert(budgetOf(member, { limit_uuid, ...change }));
      const [policy, ...others] = await listed(member);
      assert.deepEqual(policy, {
        id: limit_uuid,
        ...budgetOf(member),
        target_id: null,
        ...change,
        limit_uuid,
        etag: `"${index + 2}"`,
      });
      assert.deepEqual(others, []);
    }
  });

  it('keep what an update leaves out: whether they are enabled, and their target', async () => {
    const member = await newMember();
    const at = { target_type: 'lane', target_id: ids.lane.id } as const;
    const { limit_uuid } = await made(member, { ...at, enabled: false });
    const { enabled: _enabled, target_id: _target, ...rest } = budgetOf(member, { ...at, limit_value: 7 });
    await upsert({ ...rest, limit_uuid });
    const [policy] = await listed(member);
    assert.deepEqual([policy?.enabled, policy?.target_id, policy?.limit_value], [false, ids.lane.id, 7]);
  });

  it('keep the target that another update sets while this one waits', async () => {
    const member = await newMember();
    const { body: other } = await room.call('createLane', room.acme, {
      body: { name: `Other ${member.userId}` },
    });
    const { limit_uuid } = await made(member, { target_type: 'lane', target_id: ids.lane.id });
    const waiting = await room.db.transaction().execute(async (tx) => {
      await tx
        .selectFrom('organization_members')
        .select('user_id')
        .where('user_id', '=', member.userId)
        .forNoKeyUpdate()
        .execute();
      const later = upsert(budgetOf(member, { limit_uuid, target_type: 'lane', limit_value: 7 }));
      await lockIsAwaited(room.db);
      await sql`update user_limit_policies set target_id = ${other.id} where id = ${limit_uuid}`.execute(tx);
      return { later };
    });
    await waiting.later;
    const [policy] = await listed(member);
    assert.deepEqual([policy?.target_id, policy?.limit_value], [other.id, 7]);
  });

  it('stay with their member', async () => {
    const member = await newMember();
    const other = await newMember();
    const { limit_uuid } = await made(member);
    await assert.rejects(upsert(budgetOf(other, { limit_uuid })), refusal('conflict', 'user_uuid'));
  });

  it('are one for each target, metric and period: a second is 409 and names the first', async () => {
    const member = await newMember();
    const { limit_uuid } = await made(member);
    const names = new RegExp(limit_uuid);
    await assert.rejects(
      upsert(budgetOf(member, { limit_value: 9 })),
      refusal('conflict', 'limit_uuid', names),
    );
    const second = await made(member, { period: 'month' });
    await assert.rejects(
      upsert(budgetOf(member, { limit_uuid: second.limit_uuid })),
      refusal('conflict', 'limit_uuid', names),
    );
    assert.equal((await listed(member)).length, 2);
  });

  it('made at once come out once, and the others are told of it', async () => {
    const member = await newMember();
    for (const period of ['second', 'minute', 'hour', 'day', 'month'] as const) {
      const wanted = budgetOf(member, { period });
      const results = await Promise.allSettled(Array.from({ length: 6 }, () => upsert(wanted)));
      const refused = results.filter((each) => each.status === 'rejected');
      assert.equal(refused.length, 5);
      for (const { reason } of refused) refusal('conflict', 'limit_uuid')(reason);
    }
    assert.equal((await listed(member)).length, 5);
  });

  it('refuse by the field a member, a target or a window that cannot be', async () => {
    const member = await newMember();
    const stranger = await addMember(room, room.globex, 'developer');
    const theirs = await addOneOfEach(room, room.globex, 'Other');
    const cases: [Partial<UserLimitPolicyUpsert>, string, ErrorCode][] = [
      [{ user_uuid: stranger.userId }, 'user_uuid', 'not_found'],
      [{ user_uuid: randomUUIDv7() }, 'user_uuid', 'not_found'],
      [{ user_uuid: 'nobody' }, 'user_uuid', 'not_found'],
      [{ target_type: 'lane' }, 'target_id', 'invalid_request'],
      [{ target_type: 'global', target_id: ids.lane.id }, 'target_id', 'invalid_request'],
      [{ target_type: 'lane', target_id: theirs.lane.id }, 'target_id', 'not_found'],
      [{ target_type: 'model', target_id: ids.lane.id }, 'target_id', 'not_found'],
      [{ metric: 'concurrency' }, 'period', 'invalid_request'],
      [{ period: 'none' }, 'period', 'invalid_request'],
    ];
    for (const [over, param, code] of cases) {
      await assert.rejects(upsert(budgetOf(member, over)), refusal(code, param));
    }
    assert.deepEqual(await listed(member), []);
  });

  it('are 404 by an id that never was, one of another organization, and text that is none', async () => {
    const member = await newMember();
    const stranger = await addMember(room, room.globex, 'developer');
    await upsert(budgetOf(stranger), room.globex);
    const [theirs] = await listed(stranger, room.globex);
    for (const limit_uuid of [theirs?.id ?? '', randomUUIDv7(), 'nothing']) {
      await assert.rejects(upsert(budgetOf(member, { limit_uuid })), refusal('not_found'));
      const query = { limit_uuid };
      await assert.rejects(room.call('deleteUserLimitPolicy', room.acme, { query }), refusal('not_found'));
    }
    assert.equal((await listed(stranger, room.globex)).length, 1);
    assert.deepEqual(await listed(stranger), []);
  });

  it('go when they are deleted, and are no longer in force', async () => {
    const member = await newMember();
    const { limit_uuid } = await made(member);
    const query = { limit_uuid };
    const { body } = await room.call('deleteUserLimitPolicy', room.acme, { query });
    assert.deepEqual(body, { ok: true });
    assert.deepEqual(await listed(member), []);
    assert.equal(room.snapshots.get(room.acme.organizationId)?.userPolicies.has(member.userId), false);
    await assert.rejects(room.call('deleteUserLimitPolicy', room.acme, { query }), refusal('not_found'));
  });

  it('are seen by their member, and by whoever reads the limits of the organization', async () => {
    const anne = await newMember();
    const ben = await newMember();
    await made(anne);
    await made(ben);
    const usersSeenBy = async (caller: Caller) => {
      const { body } = await room.call('listUserLimitPolicies', caller);
      return new Set(body.policies.map(({ user_uuid }) => user_uuid));
    };
    assert.deepEqual(await usersSeenBy(anne), new Set([anne.userId]));
    assert.deepEqual(await usersSeenBy(asKey(ben, ['relay:request'])), new Set([ben.userId]));
    const viewer = await addMember(room, room.acme, 'viewer');
    const all = await usersSeenBy(viewer);
    assert.ok(all.has(anne.userId) && all.has(ben.userId));
    assert.deepEqual(await usersSeenBy(asKey(viewer, ['relay:usage:read'])), new Set());
  });

  it('are listed page by page, to each caller what it may see', async () => {
    const member = await newMember();
    for (const period of ['minute', 'hour', 'day'] as const) await made(member, { period });
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const query = cursor === undefined ? { limit: 2 } : { limit: 2, cursor };
      const page = await room.call('listUserLimitPolicies', member, { query });
      seen.push(...page.body.policies.map(({ period }) => period));
      cursor = page.headers.get('X-Next-Cursor');
    } while (cursor !== undefined);
    assert.deepEqual(seen, ['minute', 'hour', 'day']);
  });

  it('leave an audit entry with before and after for every write', async () => {
    const member = await newMember();
    const { limit_uuid } = await made(member);
    await upsert(budgetOf(member, { limit_uuid, limit_value: 5 }));
    await room.call('deleteUserLimitPolicy', room.acme, { query: { limit_uuid } });
    const entries = await room.db
      .selectFrom('audit_log')
      .select(['action', 'before', 'after'])
      .where('target_id', '=', limit_uuid)
      .orderBy('id')
      .execute();
    const whole = (limit_value: number) => {
      const { user_uuid, ...rest } = budgetOf(member, { limit_value });
      return { user_id: user_uuid, target_id: null, ...rest };
    };
    assert.deepEqual(entries, [
      { action: 'user_limit_policy.create', before: null, after: whole(1_000) },
      { action: 'user_limit_policy.update', before: whole(1_000), after: whole(5) },
      { action: 'user_limit_policy.delete', before: whole(5), after: null },
    ]);
  });

  it('change only the version that was read when If-Match is sent', async () => {
    const member = await newMember();
    const { headers } = await upsert(budgetOf(member));
    const [policy] = await listed(member);
    const etag = headers.get('ETag') ?? '';
    const change = (match: string) =>
      upsert(budgetOf(member, { limit_uuid: policy?.id ?? '', limit_value: 3 }), room.acme, {
        'if-match': match,
      });
    await assert.rejects(change('"99"'), refusal('version_conflict'));
    const changed = await change(etag);
    assert.notEqual(changed.headers.get('ETag'), etag);
    await assert.rejects(change(etag), refusal('version_conflict'));
  });

  it('go with what they are on and with their member', async () => {
    const member = await newMember();
    const { body: lane } = await room.call('createLane', room.acme, { body: { name: 'Going' } });
    await made(member, { target_type: 'lane', target_id: lane.id });
    await room.call('deleteLane', room.acme, { id: lane.id });
    assert.deepEqual(await listed(member), []);
    await made(member);
    await room.db.deleteFrom('organization_members').where('user_id', '=', member.userId).execute();
    assert.deepEqual(await listed(member), []);
  });
});
