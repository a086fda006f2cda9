import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { LimitUsage } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import type { PolicyUsage } from '../../admission/engine.ts';
import type { Caller } from '../../domain/caller.ts';
import type { AppliedLimit } from '../../domain/limits/limit.ts';
import { sampleRow } from '../../store/ledger/ledger-row.fixture.ts';
import { addMember, asKey, type ManagementFixture, refusal, startManagement } from '../fixture.ts';
import { idAt, recordRequests } from '../requests/ledger.fixture.ts';

const ACCOUNTS = { mode: 'hosted', accounts: true, version: '0.0.0' } as const;
const KEYS = 230;

/** For each read, how many limits it asked for. */
const asked: number[] = [];
async function countNothing(
  _organizationId: string,
  policies: readonly AppliedLimit[],
): Promise<PolicyUsage[]> {
  asked.push(policies.length);
  return policies.map(({ id }) => ({ policyId: id, used: 1, reserved: 0, resetMs: 0, mark: null }));
}

describe('the live state of budgets', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let anne: Caller;
  let ben: Caller;
  const ofKeys: { id: string; owner: string }[] = [];
  const ofUsers: { id: string; owner: string }[] = [];

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, { deployment: ACCOUNTS, limitUsage: countNothing });
    anne = await addMember(room, room.acme, 'developer');
    ben = await addMember(room, room.acme, 'developer');
    const organization_id = room.acme.organizationId;
    const limit = { target_type: 'global', metric: 'requests', period: 'day', limit_value: 7 } as const;
    for (const user_id of [anne.userId, ben.userId]) {
      const id = randomUUIDv7();
      await room.db
        .insertInto('user_limit_policies')
        .values({ organization_id, id, user_id, ...limit })
        .execute();
      ofUsers.push({ id, owner: user_id });
    }
    for (let index = 0; index < KEYS; index += 1) {
      const owner = index % 2 === 0 ? anne.userId : ben.userId;
      const key = {
        organization_id,
        id: randomUUIDv7(),
        user_id: owner,
        name: 'k',
        scopes: ['relay:request'],
      };
      const public_id = String(index).padStart(10, '0');
      await room.db
        .insertInto('api_keys')
        .values({ ...key, public_id, secret_hmac: Buffer.alloc(32) })
        .execute();
      const id = randomUUIDv7();
      await room.db
        .insertInto('api_key_limit_policies')
        .values({ organization_id, id, api_key_id: key.id, ...limit, enabled: index !== 0 })
        .execute();
      if (index !== 0) ofKeys.push({ id, owner });
    }
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  const idsOf = (list: readonly LimitUsage[]) => list.map(({ policy_id }) => policy_id);
  const ids = (list: readonly { id: string; owner: string }[], owner?: string) =>
    list
      .filter((each) => owner === undefined || each.owner === owner)
      .map(({ id }) => id)
      .sort();

  it('is for every member that of their own and of their keys, in force, and nothing else', async () => {
    for (const caller of [anne, ben, asKey(anne, ['relay:usage:read'])]) {
      const { body } = await room.call('listLimitUsage', caller);
      assert.deepEqual(idsOf(body), [...ids(ofUsers, caller.userId), ...ids(ofKeys, caller.userId)]);
    }
  });

  it('is that of everybody for whoever reads the limits of the organization', async () => {
    const { body, headers } = await room.call('listLimitUsage', room.acme);
    assert.deepEqual(idsOf(body), [...ids(ofUsers), ...ids(ofKeys)]);
    assert.equal(headers.size, 0);
    const viewer = await addMember(room, room.acme, 'viewer');
    assert.deepEqual(idsOf((await room.call('listLimitUsage', viewer)).body), idsOf(body));
    assert.deepEqual((await room.call('listLimitUsage', room.globex)).body, []);
  });

  it('names kind and target, as the lists of budgets do', async () => {
    const { body } = await room.call('listLimitUsage', anne);
    const [first] = body;
    assert.ok(first);
    // Forecasts depend on how much of the day has passed.
    const { rate_per_hour: _rate, forecast: _forecast, runs_out_at: _end, ...told } = first;
    assert.deepEqual(told, {
      policy_id: ofUsers[0]?.id,
      policy_kind: 'user',
      subject_id: anne.userId,
      scope_type: 'global',
      scope_id: null,
      metric: 'requests',
      period: 'day',
      limit: 7,
      used: 1,
      reserved: 0,
      remaining: 6,
      resets_at: null,
    });
    assert.equal(body[1]?.policy_kind, 'api_key');
  });

  it('is for a member also that of the teams whose limits count their requests, by name', async () => {
    const team = async (body: { name: string; parent_id?: string }) =>
      (await room.call('createTeam', room.acme, { body })).body.id;
    const parent = await team({ name: 'Department' });
    const mine = await team({ name: 'Search', parent_id: parent });
    const other = await team({ name: 'Other' });
    for (const team_uuid of [parent, mine, other])
      await room.call('upsertTeamLimitPolicy', room.acme, {
        body: { team_uuid, target_type: 'global', metric: 'requests', period: 'month', limit_value: 0 },
      });
    const teamsOf = async (caller: Caller) => {
      const { body } = await room.call('listLimitUsage', caller, { query: { policy_kind: 'team' } });
      return new Set(body.map(({ subject_id: id }) => id));
    };
    const carl = await addMember(room, room.acme, 'developer');
    assert.deepEqual(await teamsOf(carl), new Set());
    await room.db
      .updateTable('organization_members')
      .set({ team_id: mine })
      .where('user_id', '=', carl.userId)
      .execute();
    assert.deepEqual(await teamsOf(carl), new Set([mine, parent]));
    assert.deepEqual(await teamsOf(room.acme), new Set([mine, parent, other]));

    const { policies } = (await room.call('listTeamLimitPolicies', room.acme)).body;
    for (const { limit_uuid, ...limit } of policies) {
      const { id: _, ...body } = limit;
      await room.call('upsertTeamLimitPolicy', room.acme, { body: { ...body, limit_uuid, limit_value: 5 } });
    }
    const { body } = await room.call('getNextLimits', carl);
    assert.deepEqual(
      new Set(body.limits.map(({ subject_name, used }) => `${subject_name} ${used}`)),
      new Set(['Department 1', 'Search 1']),
    );
    await room.db.deleteFrom('teams').where('organization_id', '=', room.acme.organizationId).execute();
  });

  it('names whose limits run out next', async () => {
    const { body } = await room.call('getNextLimits', anne, { query: { limit: 100 } });
    const { name } = await room.db
      .selectFrom('users')
      .select('name')
      .where('id', '=', anne.userId)
      .executeTakeFirstOrThrow();
    const ofAnne = body.limits.find(({ policy_kind: kind }) => kind === 'user');
    assert.deepEqual(
      [ofAnne?.subject_id, ofAnne?.subject_name, ofAnne?.scope_name],
      [anne.userId, name, null],
    );
    const ofKey = body.limits.filter(({ policy_kind: kind }) => kind === 'api_key');
    assert.deepEqual(new Set(ofKey.map(({ subject_name }) => subject_name)), new Set(['k']));
    assert.equal(new Set(ofKey.map(({ subject_id }) => subject_id)).size, ofKey.length);
  });

  it('leaves out the limits of whoever can no longer send, and names them again once they can', async () => {
    const [revoked, expired, other] = ofKeys.filter(({ owner }) => owner === ben.userId);
    assert.ok(revoked && expired && other);
    const keyOf = (policyId: string) =>
      room.db.selectFrom('api_key_limit_policies').select('api_key_id').where('id', '=', policyId);
    const past = new Date(Date.now() - 1_000);
    const change = (policyId: string, set: { revoked_at?: Date | null; expires_at?: Date | null }) =>
      room.db.updateTable('api_keys').set(set).where('id', '=', keyOf(policyId)).execute();
    const standing = (status: 'active' | 'suspended') =>
      room.db
        .updateTable('organization_members')
        .set({ status })
        .where('organization_id', '=', room.acme.organizationId)
        .where('user_id', '=', ben.userId)
        .execute();
    const listed = async () => {
      const usage = idsOf((await room.call('listLimitUsage', room.acme)).body);
      const next = await room.call('getNextLimits', room.acme, { query: { limit: 100 } });
      assert.equal(next.body.total, usage.length);
      return usage;
    };

    await change(revoked.id, { revoked_at: past });
    await change(expired.id, { expires_at: past });
    const active = ids(ofKeys).filter((id) => id !== revoked.id && id !== expired.id);
    assert.deepEqual(await listed(), [...ids(ofUsers), ...active]);
    await standing('suspended');
    assert.deepEqual(await listed(), [...ids(ofUsers, anne.userId), ...ids(ofKeys, anne.userId)]);

    await standing('active');
    await change(revoked.id, { revoked_at: null });
    await change(expired.id, { expires_at: null });
    assert.deepEqual(await listed(), [...ids(ofUsers), ...ids(ofKeys)]);
  });

  it('names a limit as rejecting for five minutes after it did', async () => {
    const [mine, quiet] = ofUsers;
    assert.ok(mine && quiet);
    const nowMs = Date.now();
    const rejection = (policy_id: string, minutesAgo: number, number: number) =>
      sampleRow({
        request_id: idAt(nowMs - minutesAgo * 60_000, number),
        organization_id: room.acme.organizationId,
        user_id: anne.userId,
        state: 'failed',
        status: 429,
        error_code: 'budget_exhausted',
        bound_policy: {
          policy_id,
          kind: 'user',
          scope_type: 'global',
          scope_id: null,
          metric: 'requests',
          period: 'day',
          resets_at: null,
        },
      });
    await recordRequests(room.db, [
      rejection(mine.id, 4, 1),
      rejection(mine.id, 7, 2),
      rejection(quiet.id, 6, 3),
    ]);
    for (const caller of [room.acme, anne]) {
      const { body } = await room.call('getNextLimits', caller, { query: { limit: 100 } });
      const rejecting = body.limits.filter(({ last_rejected_at: at }) => at !== null);
      assert.deepEqual(
        rejecting.map(({ policy_id: id, last_rejected_at: at }) => [id, at]),
        [[mine.id, new Date(nowMs - 4 * 60_000).toISOString()]],
      );
    }
    const { body } = await room.call('getNextLimits', ben, { query: { limit: 100 } });
    assert.ok(body.limits.every(({ last_rejected_at: at }) => at === null));
  });

  it('is walked in pages without a duplicate or a gap, over all kinds', async () => {
    const { body: provider } = await room.call('createProvider', room.acme, {
      body: { name: 'P', base_url: 'https://api.example.com/v1', auth_mode: 'none', enabled: true },
    });
    for (const name of ['one', 'two', 'three']) {
      const endpoint = { provider_id: provider.id, name, upstream_model: name, route_kind: 'multi' } as const;
      await room.call('createEndpoint', room.acme, { body: { ...endpoint, max_concurrency: 4 } });
    }
    const whole = idsOf((await room.call('listLimitUsage', room.acme)).body);
    assert.equal(whole.length, 3 + 2 + KEYS - 1);
    for (const limit of [1, 2, 4, 100]) {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const query = cursor === undefined ? { limit } : { limit, cursor };
        const page = await room.call('listLimitUsage', room.acme, { query });
        assert.ok(page.body.length <= limit);
        seen.push(...idsOf(page.body));
        assert.ok(seen.length <= whole.length, 'the walk does not end');
        cursor = page.headers.get('X-Next-Cursor');
      } while (cursor !== undefined);
      assert.deepEqual(seen, whole, `pages of ${limit}`);
    }
  });

  it('of one kind is that kind alone, in pages whose links keep it', async () => {
    const of = async (policy_kind: LimitUsage['policy_kind']) =>
      idsOf((await room.call('listLimitUsage', room.acme, { query: { policy_kind } })).body);
    assert.deepEqual(await of('user'), ids(ofUsers));
    assert.deepEqual(await of('api_key'), ids(ofKeys));
    assert.equal((await of('resource')).length, 3);
    assert.deepEqual(await of('team'), []);
    asked.length = 0;
    const query = { policy_kind: 'api_key', limit: 2 } as const;
    const page = await room.call('listLimitUsage', room.acme, { query });
    assert.deepEqual([idsOf(page.body), asked], [ids(ofKeys).slice(0, 2), [2]]);
    const cursor = page.headers.get('X-Next-Cursor') ?? '';
    assert.ok(page.headers.get('Link')?.includes('policy_kind=api_key'));
    const next = await room.call('listLimitUsage', room.acme, { query: { ...query, cursor } });
    assert.deepEqual(idsOf(next.body), ids(ofKeys).slice(2, 4));
  });

  it('of one member is theirs and that of their keys, for those who may see it', async () => {
    const of = async (caller: Caller, user_uuid: string) =>
      idsOf((await room.call('listLimitUsage', caller, { query: { user_uuid } })).body);
    const hers = [...ids(ofUsers, anne.userId), ...ids(ofKeys, anne.userId)];
    assert.deepEqual(await of(room.acme, anne.userId.toUpperCase()), hers);
    assert.deepEqual(await of(anne, anne.userId), hers);
    assert.deepEqual(await of(ben, anne.userId), []);
    assert.deepEqual(await of(room.acme, 'no ID'), []);
  });

  it('asks the limits engine for a bounded number at a time', async () => {
    asked.length = 0;
    await room.call('listLimitUsage', room.acme);
    assert.ok(asked.length > 1 && Math.max(...asked) <= 100);
  });

  it('refuses a cursor that it did not give out', async () => {
    const foreign = Buffer.from(randomUUIDv7().replaceAll('-', ''), 'hex').toString('base64url');
    for (const cursor of ['', 'nonsense', foreign, `BA${foreign}`]) {
      await assert.rejects(
        room.call('listLimitUsage', room.acme, { query: { limit: 5, cursor } }),
        refusal('invalid_request', 'cursor'),
      );
    }
  });
});
