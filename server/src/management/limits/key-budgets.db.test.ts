import assert from 'node:assert/strict';
import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { ApiKeyLimitPolicy, ApiKeyLimitPolicyUpsert } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { mintApiKey } from '../../domain/api-key.ts';
import type { Caller } from '../../domain/caller.ts';
import { addMember, asKey, type ManagementFixture, refusal, startManagement } from '../fixture.ts';

const HOSTED = { mode: 'hosted', accounts: true, version: '0.0.0' } as const;

describe('API-key budgets', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let lane: { id: string };

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, { deployment: HOSTED });
    lane = (await room.call('createLane', room.acme, { body: { name: 'Main' } })).body;
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  async function newKey(owner: Caller = room.acme): Promise<string> {
    const id = randomUUIDv7();
    const { publicId } = mintApiKey(randomBytes);
    await room.db
      .insertInto('api_keys')
      .values({
        organization_id: owner.organizationId,
        id,
        user_id: owner.userId,
        name: 'agent',
        public_id: publicId,
        secret_hmac: randomBytes(32),
        scopes: ['relay:request'],
      })
      .execute();
    return id;
  }

  const budgetOf = (
    api_key_uuid: string,
    over: Partial<ApiKeyLimitPolicyUpsert> = {},
  ): ApiKeyLimitPolicyUpsert => ({
    api_key_uuid,
    target_type: 'global',
    metric: 'requests',
    period: 'minute',
    limit_value: 60,
    unpriced: 'refuse',
    enforcement: 'estimate',
    alert_at: [],
    alert_on_forecast: false,
    enabled: true,
    ...over,
  });
  const upsert = (body: ApiKeyLimitPolicyUpsert, caller = room.acme) =>
    room.call('upsertApiKeyLimitPolicy', caller, { body });
  const listed = async (keyId: string, caller = room.acme): Promise<ApiKeyLimitPolicy[]> => {
    const { body } = await room.call('listApiKeyLimitPolicies', caller);
    return body.policies.filter(({ api_key_uuid }) => api_key_uuid === keyId);
  };
  async function made(keyId: string, over: Partial<ApiKeyLimitPolicyUpsert> = {}) {
    await upsert(budgetOf(keyId, over));
    const found = (await listed(keyId)).at(-1);
    assert.ok(found);
    return found;
  }
  const changedVersion = async (keyId: string) => {
    const key = await room.db
      .selectFrom('api_keys')
      .select('changed_version')
      .where('id', '=', keyId)
      .executeTakeFirstOrThrow();
    return key.changed_version;
  };

  it('are made by the id of the key, answer that it is done, and list their owner', async () => {
    const owner = await addMember(room, room.acme, 'developer');
    const keyId = await newKey(owner);
    const { body } = await upsert(budgetOf(keyId));
    assert.deepEqual(body, { ok: true });
    const [policy, ...others] = await listed(keyId);
    assert.ok(policy);
    assert.deepEqual(policy, {
      id: policy.limit_uuid,
      limit_uuid: policy.id,
      ...budgetOf(keyId),
      owner_user_uuid: owner.userId,
      target_id: null,
      etag: '"1"',
    });
    assert.deepEqual(others, []);
  });

  it('change their value and whether they are enabled, with the same key, target, metric and window', async () => {
    const keyId = await newKey();
    const at = { target_type: 'lane', target_id: lane.id } as const;
    const { limit_uuid } = await made(keyId, at);
    await upsert(budgetOf(keyId, { ...at, limit_uuid, limit_value: 5 }));
    await upsert(budgetOf(keyId, { ...at, limit_uuid, limit_value: 5, enabled: false }));
    const [policy] = await listed(keyId);
    assert.deepEqual([policy?.limit_value, policy?.enabled, policy?.target_id], [5, false, lane.id]);
  });

  it('refuse by the field an update with another key, target, metric or window', async () => {
    const keyId = await newKey();
    const { body: other } = await room.call('createLane', room.acme, { body: { name: 'Other' } });
    const at = { target_type: 'lane', target_id: lane.id } as const;
    const { limit_uuid } = await made(keyId, at);
    const cases: [Partial<ApiKeyLimitPolicyUpsert>, string][] = [
      [{ api_key_uuid: await newKey() }, 'api_key_uuid'],
      [{ target_type: 'global', target_id: null }, 'target_type'],
      [{ target_id: other.id }, 'target_id'],
      [{ metric: 'tokens' }, 'metric'],
      [{ period: 'day' }, 'period'],
    ];
    for (const [over, param] of cases) {
      const body = budgetOf(keyId, { ...at, limit_uuid, limit_value: 1, ...over });
      await assert.rejects(upsert(body), refusal('conflict', param, /can’t be changed/));
    }
    assert.equal((await listed(keyId))[0]?.limit_value, 60);
  });

  it('are never addressed by the key itself: it is refused and not repeated', async () => {
    const { key } = mintApiKey(randomBytes);
    for (const api_key_uuid of [key, `Bearer ${key}`]) {
      const error = await upsert(budgetOf(api_key_uuid)).then(
        () => assert.fail('accepted'),
        (thrown: Error & { detail?: unknown }) => thrown,
      );
      refusal('invalid_request', 'api_key_uuid', /revoke it/)(error);
      assert.ok(!JSON.stringify([error.message, error.detail]).includes(key.slice(0, 20)));
    }
  });

  it('of a key do not pass to the key that replaces it', async () => {
    const keyId = await newKey();
    await made(keyId);
    const replacement = await newKey();
    assert.deepEqual(await listed(replacement), []);
    assert.equal((await listed(keyId)).length, 1);
  });

  it('are not made for a key that was revoked, whose own can still be read, changed and deleted', async () => {
    const keyId = await newKey();
    const { limit_uuid } = await made(keyId);
    await room.db.updateTable('api_keys').set({ revoked_at: new Date() }).where('id', '=', keyId).execute();
    await assert.rejects(
      upsert(budgetOf(keyId, { period: 'day' })),
      refusal('conflict', 'api_key_uuid', /revoked/),
    );
    assert.equal((await listed(keyId)).length, 1);
    await upsert(budgetOf(keyId, { limit_uuid, limit_value: 1 }));
    await room.call('deleteApiKeyLimitPolicy', room.acme, { query: { limit_uuid } });
    assert.deepEqual(await listed(keyId), []);
  });

  it('mark their key with the version of the change, so that gateways read it anew', async () => {
    const keyId = await newKey();
    const sibling = await newKey();
    const { limit_uuid } = await made(keyId);
    const writes = [
      () => upsert(budgetOf(keyId, { limit_uuid, limit_value: 2 })),
      () => room.call('deleteApiKeyLimitPolicy', room.acme, { query: { limit_uuid } }),
    ];
    assert.equal(await changedVersion(keyId), await room.configVersion(room.acme));
    for (const write of writes) {
      const before = await changedVersion(keyId);
      await write();
      assert.ok((await changedVersion(keyId)) > before);
      assert.equal(await changedVersion(keyId), await room.configVersion(room.acme));
    }
    assert.equal(await changedVersion(sibling), 0);
  });

  it('are one for each target, metric and period, also when made at once', async () => {
    const keyId = await newKey();
    const results = await Promise.allSettled(Array.from({ length: 6 }, () => upsert(budgetOf(keyId))));
    const refused = results.filter((each) => each.status === 'rejected');
    const [first] = await listed(keyId);
    assert.equal(refused.length, 5);
    for (const { reason } of refused) refusal('conflict', 'limit_uuid', new RegExp(first?.id ?? '-'))(reason);
    assert.equal((await listed(keyId)).length, 1);
  });

  it('written and deleted at once, with the key renamed meanwhile, never wait in a circle', async () => {
    const keyId = await newKey();
    const periods = ['second', 'minute', 'hour', 'day', 'month'] as const;
    for (let round = 0; round < 6; round += 1) {
      // Deletes the limits of the previous round while creating those of this one.
      const metric = round % 2 === 0 ? 'requests' : 'tokens';
      const earlier = await listed(keyId);
      await Promise.all([
        ...periods.map((period) => upsert(budgetOf(keyId, { metric, period }))),
        ...earlier.map(({ limit_uuid }) =>
          room.call('deleteApiKeyLimitPolicy', room.acme, { query: { limit_uuid } }),
        ),
        room.call('renameApiKey', room.acme, { id: keyId, body: { name: `round ${round}` } }),
      ]);
      const left = await listed(keyId);
      assert.deepEqual(new Set(left.map((each) => each.metric)), new Set([metric]));
      assert.equal(left.length, periods.length);
    }
  });

  it('are seen by the owner of the key and by whoever reads the limits of the organization', async () => {
    const anne = await addMember(room, room.acme, 'developer');
    const ben = await addMember(room, room.acme, 'developer');
    const [ofAnne, ofBen] = [await newKey(anne), await newKey(ben)];
    await made(ofAnne);
    await made(ofBen);
    for (const caller of [anne, asKey(anne, ['relay:request'])]) {
      const { body } = await room.call('listApiKeyLimitPolicies', caller);
      assert.deepEqual(
        body.policies.map(({ api_key_uuid }) => api_key_uuid),
        [ofAnne],
      );
    }
    const viewer = await addMember(room, room.acme, 'viewer');
    assert.equal((await listed(ofBen, viewer)).length, 1);
  });

  it('of one organization are nothing to another, by list, id or reference', async () => {
    const theirKey = await newKey(room.globex);
    await upsert(budgetOf(theirKey), room.globex);
    const [theirs] = await listed(theirKey, room.globex);
    const limit_uuid = theirs?.id ?? '';
    assert.deepEqual(await listed(theirKey), []);
    await assert.rejects(upsert(budgetOf(theirKey)), refusal('not_found', 'api_key_uuid'));
    await assert.rejects(upsert(budgetOf(theirKey, { limit_uuid })), refusal('not_found'));
    await assert.rejects(
      room.call('deleteApiKeyLimitPolicy', room.acme, { query: { limit_uuid } }),
      refusal('not_found'),
    );
    assert.equal((await listed(theirKey, room.globex)).length, 1);
  });

  it('leave an audit entry for every write, and a refused one leaves nothing', async () => {
    const keyId = await newKey();
    const version = await room.configVersion(room.acme);
    await assert.rejects(upsert(budgetOf(keyId, { period: 'none' })), refusal('invalid_request', 'period'));
    assert.equal(await room.configVersion(room.acme), version);
    const { limit_uuid } = await made(keyId);
    await upsert(budgetOf(keyId, { limit_uuid, limit_value: 5 }));
    await room.call('deleteApiKeyLimitPolicy', room.acme, { query: { limit_uuid } });
    const entries = await room.db
      .selectFrom('audit_log')
      .select(['action', 'before', 'after'])
      .where('target_id', '=', limit_uuid)
      .orderBy('id')
      .execute();
    const whole = (limit_value: number) => {
      const { api_key_uuid, ...rest } = budgetOf(keyId, { limit_value });
      return { api_key_id: api_key_uuid, target_id: null, ...rest };
    };
    assert.deepEqual(entries, [
      { action: 'api_key_limit_policy.create', before: null, after: whole(60) },
      { action: 'api_key_limit_policy.update', before: whole(60), after: whole(5) },
      { action: 'api_key_limit_policy.delete', before: whole(5), after: null },
    ]);
  });

  it('are listed page by page', async () => {
    const owner = await addMember(room, room.acme, 'developer');
    const periods = ['second', 'minute', 'hour', 'day', 'month'] as const;
    const keyId = await newKey(owner);
    for (const period of periods) await made(keyId, { period });
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const query = cursor === undefined ? { limit: 2 } : { limit: 2, cursor };
      const page = await room.call('listApiKeyLimitPolicies', owner, { query });
      seen.push(...page.body.policies.map(({ period }) => period));
      cursor = page.headers.get('X-Next-Cursor');
    } while (cursor !== undefined);
    assert.deepEqual(seen, periods);
  });
});
