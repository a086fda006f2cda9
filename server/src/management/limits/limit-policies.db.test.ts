import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { LimitPolicyCreate, RouteId } from '@relay/contract';
import { limitMetrics, limitPeriods } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { chargesFor } from '../../domain/limits/limits.ts';
import { METRICS } from '../../domain/limits/metric.ts';
import { routingTableOf } from '../../domain/routing/routing.ts';
import { addOneOfEach, type ManagementFixture, refusal, startManagement } from '../fixture.ts';

const requests: LimitPolicyCreate = {
  scope_type: 'global',
  metric: 'requests',
  period: 'minute',
  limit_value: 100,
};

describe('limit policies', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url);
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  const create = async (body: LimitPolicyCreate) =>
    (await room.call('createLimitPolicy', room.acme, { body })).body;
  const listed = async () => (await room.call('listLimitPolicies', room.acme)).body;

  it('are created by the fields of the interface, global and enabled when not said otherwise', async () => {
    const policy = await create(requests);
    assert.deepEqual(policy, {
      id: policy.id,
      ...requests,
      scope_id: null,
      unpriced: 'refuse',
      enforcement: 'estimate',
      alert_at: [],
      alert_on_forecast: false,
      enabled: true,
    });
    assert.deepEqual(
      (await listed()).find(({ id }) => id === policy.id),
      policy,
    );
  });

  it('accept every metric with every period that fits it, and the largest limit exactly', async () => {
    for (const metric of limitMetrics) {
      for (const period of limitPeriods.filter((each) => (each === 'none') === METRICS[metric].held)) {
        const limit_value = Number.MAX_SAFE_INTEGER;
        const policy = await create({ ...requests, metric, period, limit_value });
        assert.deepEqual([policy.metric, policy.period, policy.limit_value], [metric, period, limit_value]);
      }
    }
    const policy = await create({ ...requests, metric: 'concurrency', period: 'none', limit_value: 0 });
    assert.equal(policy.limit_value, 0);
  });

  it('exist once with a scope, metric, period and value, also when they are created together', async () => {
    const rule = { ...requests, period: 'week', limit_value: 4_711 } as const;
    const tries = await Promise.allSettled(Array.from({ length: 4 }, () => create(rule)));
    const [made] = tries.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    assert.ok(made);
    assert.equal(tries.filter(({ status }) => status === 'fulfilled').length, 1);
    const twin = refusal('conflict', undefined, new RegExp(made.id));
    await assert.rejects(create({ ...rule, enabled: false }), twin);

    const other = await create({ ...rule, limit_value: 4_712 });
    const change = (id: string, over: object) =>
      room.call('updateLimitPolicy', room.acme, { id, body: { ...rule, enabled: true, ...over } });
    await assert.rejects(change(other.id, {}), twin);
    // Equal ones that exist already can still change.
    await room.db
      .updateTable('limit_policies')
      .set({ limit_value: 4_711 })
      .where('id', '=', other.id)
      .execute();
    assert.equal((await change(other.id, { enabled: false })).body.enabled, false);
  });

  it('refuse concurrency over a period, and anything else without one', async () => {
    for (const wrong of [
      { metric: 'concurrency', period: 'minute' },
      { metric: 'requests', period: 'none' },
      { metric: 'spend', period: 'none' },
    ] as const) {
      const refused = refusal('invalid_request', 'period');
      await assert.rejects(create({ ...requests, ...wrong }), refused);
      const [{ id } = { id: '' }] = await listed();
      const body = { ...requests, ...wrong, enabled: true };
      await assert.rejects(room.call('updateLimitPolicy', room.acme, { id, body }), refused);
    }
  });

  it('are hard on tokens and spend, and neither where counts are exact nor where endpoints may lack a price', async () => {
    const spend = { ...requests, metric: 'spend', period: 'day', enforcement: 'hard' } as const;
    const policy = await create(spend);
    assert.equal(policy.enforcement, 'hard');
    assert.equal((await create({ ...spend, metric: 'tokens' })).enforcement, 'hard');
    const refused = refusal('invalid_request', 'enforcement');
    await assert.rejects(create({ ...spend, metric: 'requests' }), refused);
    await assert.rejects(create({ ...spend, metric: 'concurrency', period: 'none' }), refused);
    await assert.rejects(create({ ...spend, unpriced: 'allow' }), refused);
    const change = (body: object) =>
      room.call('updateLimitPolicy', room.acme, {
        id: policy.id,
        body: { ...requests, enabled: true, ...body },
      });
    const { enforcement: _, ...unsaid } = spend;
    await assert.rejects(change({ ...unsaid, unpriced: 'allow' }), refused, 'what is left out stays hard');
    const changed = await change({ ...spend, enforcement: 'estimate', unpriced: 'allow' });
    assert.equal(changed.body.enforcement, 'estimate');
    await assert.rejects(
      change({ ...unsaid, enforcement: 'hard' }),
      refused,
      'what is left out stays allowed',
    );
  });

  it('name a resource of this organization unless they are global', async () => {
    const ours = await addOneOfEach(room, room.acme, 'Ours');
    const theirs = await addOneOfEach(room, room.globex, 'Theirs');
    for (const scope_type of ['provider', 'credential', 'endpoint', 'lane'] as const) {
      const policy = await create({ ...requests, scope_type, scope_id: ours[scope_type].id });
      assert.equal(policy.scope_id, ours[scope_type].id);
      const wrongIds = [theirs[scope_type].id, randomUUIDv7(), 'no id', null, undefined, ours.membership.id];
      for (const scope_id of wrongIds) {
        const scope = scope_id === undefined ? { scope_type } : { scope_type, scope_id };
        const code = typeof scope_id === 'string' ? 'not_found' : 'invalid_request';
        await assert.rejects(create({ ...requests, ...scope }), refusal(code, 'scope_id'));
      }
    }
    await assert.rejects(
      create({ ...requests, scope_id: ours.lane.id }),
      refusal('invalid_request', 'scope_id', /must be null/),
    );
  });

  it('keep their scope when an update leaves it out, and need one for another kind', async () => {
    const { lane, provider } = await addOneOfEach(room, room.acme, 'Moved');
    const { id } = await create({ ...requests, scope_type: 'lane', scope_id: lane.id });
    const put = async (change: object) => {
      const body = { ...requests, scope_type: 'lane' as const, enabled: true, ...change };
      return (await room.call('updateLimitPolicy', room.acme, { id, body })).body;
    };
    assert.deepEqual(await put({ limit_value: 7, enabled: false }), {
      id,
      ...requests,
      scope_type: 'lane',
      scope_id: lane.id,
      limit_value: 7,
      unpriced: 'refuse',
      enforcement: 'estimate',
      alert_at: [],
      alert_on_forecast: false,
      enabled: false,
    });
    await assert.rejects(put({ scope_id: null }), refusal('invalid_request', 'scope_id'));
    await assert.rejects(put({ scope_type: 'provider' }), refusal('invalid_request', 'scope_id'));
    const moved = await put({ scope_type: 'provider', scope_id: provider.id });
    assert.deepEqual([moved.scope_type, moved.scope_id], ['provider', provider.id]);
    assert.equal((await put({ scope_type: 'global', limit_value: 8 })).scope_id, null);
  });

  it('say in the audit log what changed, once', async () => {
    const { lane } = await addOneOfEach(room, room.acme, 'Audited');
    const { id } = await create({ ...requests, scope_type: 'lane', scope_id: lane.id });
    const body = { ...requests, scope_type: 'lane' as const, limit_value: 5, enabled: true };
    const { requestId } = await room.call('updateLimitPolicy', room.acme, { id, body });
    const entry = await room.db
      .selectFrom('audit_log')
      .selectAll()
      .where('organization_id', '=', room.acme.organizationId)
      .where('request_id', '=', requestId)
      .executeTakeFirstOrThrow();
    const before = {
      ...requests,
      scope_type: 'lane',
      scope_id: lane.id,
      unpriced: 'refuse',
      enforcement: 'estimate',
      alert_at: [],
      alert_on_forecast: false,
      enabled: true,
      managed_by: null,
    };
    assert.deepEqual(
      [entry.action, entry.target_id, entry.before, entry.after],
      ['limit_policy.update', id, before, { ...before, limit_value: 5 }],
    );
  });

  it('go with what they limit', async () => {
    const { lane } = await addOneOfEach(room, room.acme, 'Gone');
    const { id } = await create({ ...requests, scope_type: 'lane', scope_id: lane.id });
    await room.call('deleteLane', room.acme, { id: lane.id });
    assert.ok((await listed()).every((policy) => policy.id !== id));
  });

  it('bind the very next request of this process, as long as they are enabled', async () => {
    const { lane, endpoint } = await addOneOfEach(room, room.globex, 'Bound');
    await room.snapshots.load(room.globex.organizationId);
    const charged = (model: string) => {
      const snapshot = room.snapshots.get(room.globex.organizationId);
      assert.ok(snapshot);
      const route = routingTableOf(snapshot).resolve(model);
      const found = route?.members.find(({ candidate }) => candidate.endpoint.id === endpoint.id);
      assert.ok(route && found);
      return chargesFor(snapshot, room.globex, route, found.candidate, { tokens: 40, spendMicros: 3 });
    };
    const body = {
      scope_type: 'lane',
      scope_id: lane.id,
      metric: 'tokens',
      period: 'minute',
      limit_value: 9,
    } as const;
    const { body: policy } = await room.call('createLimitPolicy', room.globex, { body });
    const of = (model: string) => charged(model).filter((charge) => charge.policy.id.startsWith(policy.id));
    const [{ metric, period, limit } = {}] = of('bound').map((charge) => charge.policy);
    assert.deepEqual({ metric, period, limit }, { metric: 'tokens', period: 'minute', limit: 9 });
    assert.deepEqual(
      of('bound').map(({ cost }) => cost),
      [40],
    );
    assert.deepEqual(of('gpt-5'), []);

    const { id } = policy;
    const change = (limit_value: number, enabled: boolean) =>
      room.call('updateLimitPolicy', room.globex, { id, body: { ...body, limit_value, enabled } });
    await change(10, true);
    assert.equal(of('bound')[0]?.policy.limit, 10);
    await change(10, false);
    assert.deepEqual(of('bound'), []);
    await change(10, true);
    assert.equal(of('bound').length, 1);
    await room.call('deleteLimitPolicy', room.globex, { id });
    assert.deepEqual(of('bound'), []);
  });
});

describe('limit policies of a hosted deployment', () => {
  it('are refused with 403 by every route, and not among the capabilities', async () => {
    const database = await freshDatabase();
    const deployment = { mode: 'hosted', accounts: true, version: '1.0.0' } as const;
    const room = await startManagement(database.url, { deployment });
    try {
      const id = randomUUIDv7();
      const body = { ...requests, enabled: true };
      const calls: [RouteId, object][] = [
        ['listLimitPolicies', {}],
        ['createLimitPolicy', { body }],
        ['updateLimitPolicy', { id, body }],
        ['deleteLimitPolicy', { id }],
      ];
      for (const [route, input] of calls)
        await assert.rejects(room.call(route, room.acme, input), refusal('mode_unsupported'));
      const { body: capabilities } = await room.call('getCapabilities', room.acme);
      assert.equal(capabilities.features['resource_limit_policies'], false);
      assert.equal(capabilities.features['lanes'], true);
    } finally {
      await room.close();
      await database.drop();
    }
  });
});
