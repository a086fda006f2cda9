import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { allRoutes, type RouteId } from '@relay/contract';
import { type FreshDatabase, freshDatabase, startTcpProxy } from '@relay/testbed';
import { sql } from 'kysely';
import { addOneOfEach, type ManagementFixture, refusal, startManagement } from '../fixture.ts';

describe('every write', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  const SECRETS = ['sk-a-secret-of-the-provider', 'sk-replaced'];

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url);
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  /** Calls every write route of the module once, in an order in which each succeeds. */
  async function* writes(): AsyncGenerator<{ route: RouteId; requestId: string; answer: unknown }> {
    const { call, acme } = room;
    const done = (route: RouteId, { requestId, body }: { requestId: string; body: unknown }) => ({
      route,
      requestId,
      answer: body,
    });
    const provider = await call('createProvider', acme, {
      body: { name: 'P', base_url: 'https://api.example.com' },
    });
    yield done('createProvider', provider);
    const provider_id = provider.body.id;
    const credential = await call('createCredential', acme, {
      body: { provider_id, name: 'C', secret: SECRETS[0] ?? '' },
    });
    yield done('createCredential', credential);
    const endpoint = await call('createEndpoint', acme, {
      body: { provider_id, name: 'E', upstream_model: 'm', route_kind: 'chat' },
    });
    yield done('createEndpoint', endpoint);
    const endpoint_id = endpoint.body.id;
    const lane = await call('createLane', acme, { body: { name: 'L' } });
    yield done('createLane', lane);
    const membership = await call('createMembership', acme, {
      body: { lane_id: lane.body.id, endpoint_id, manual_rank: 1 },
    });
    yield done('createMembership', membership);
    const pricing = await call('createPricingPolicy', acme, {
      body: { endpoint_id, input_cost_micros_per_1m_tokens: 1, output_cost_micros_per_1m_tokens: 1 },
    });
    yield done('createPricingPolicy', pricing);

    const limit = { metric: 'tokens' as const, period: 'minute' as const, limit_value: 1 };
    const policy = await call('createLimitPolicy', acme, {
      body: { scope_type: 'provider', scope_id: provider_id, ...limit },
    });
    yield done('createLimitPolicy', policy);

    const update = { id: provider_id, body: { name: 'P2' } };
    yield done('updateProvider', await call('updateProvider', acme, update));
    const replace = { id: credential.body.id, body: { secret: SECRETS[1] ?? '' } };
    yield done('updateCredential', await call('updateCredential', acme, replace));
    const patch = { id: endpoint_id, body: { enabled: false } };
    yield done('updateEndpoint', await call('updateEndpoint', acme, patch));
    const whole = { name: 'L2', default_max_wait_ms: 5, allow_fallback: false, enabled: true };
    yield done('updateLane', await call('updateLane', acme, { id: lane.body.id, body: whole }));
    const rank = { id: membership.body.id, body: { manual_rank: 2, enabled: true } };
    yield done('updateMembership', await call('updateMembership', acme, rank));
    const price = { id: pricing.body.id, body: { flat_request_cost_micros: 5 } };
    yield done('updatePricingPolicy', await call('updatePricingPolicy', acme, price));

    const wider = { scope_type: 'global' as const, scope_id: null, ...limit, enabled: false };
    yield done(
      'updateLimitPolicy',
      await call('updateLimitPolicy', acme, { id: policy.body.id, body: wider }),
    );

    yield done('deleteLimitPolicy', await call('deleteLimitPolicy', acme, { id: policy.body.id }));
    const id = pricing.body.id;
    yield done('deletePricingPolicy', await call('deletePricingPolicy', acme, { id }));
    yield done('deleteMembership', await call('deleteMembership', acme, { id: membership.body.id }));
    yield done('deleteLane', await call('deleteLane', acme, { id: lane.body.id }));
    yield done('deleteEndpoint', await call('deleteEndpoint', acme, { id: endpoint_id }));
    yield done('deleteCredential', await call('deleteCredential', acme, { id: credential.body.id }));
    yield done('deleteProvider', await call('deleteProvider', acme, { id: provider_id }));
  }

  it('raises the version once, writes one audit entry, and shows no secret in either', async () => {
    const written = new Set<RouteId>();
    let version = await room.configVersion(room.acme);
    for await (const { route, requestId, answer } of writes()) {
      written.add(route);
      const next = await room.configVersion(room.acme);
      assert.ok(next > version, `${route} left the version at ${version}`);
      version = next;
      const entries = await room.db
        .selectFrom('audit_log')
        .selectAll()
        .where('organization_id', '=', room.acme.organizationId)
        .where('request_id', '=', requestId)
        .execute();
      assert.equal(entries.length, 1, route);
      const [entry] = entries;
      assert.equal(entry?.actor_type, 'admin_token');
      assert.equal(entry?.actor_user_id, room.acme.userId);
      assert.equal(entry?.action.split('.')[1], /^[a-z]+/.exec(route)?.[0]);
      assert.equal(entry?.before === null, route.startsWith('create'));
      assert.equal(entry?.after === null, route.startsWith('delete'));
      const shown = JSON.stringify([entry, answer]);
      for (const secret of SECRETS) assert.ok(!shown.includes(secret));
      assert.ok(!/sealed|key_id":"/.test(shown), shown);
    }
    const expected = allRoutes.filter(
      ({ method, path, plane }) =>
        plane === 'management' &&
        method !== 'GET' &&
        /^\/api\/relay\/(providers|credentials|endpoints|routing-lanes|lane-memberships|pricing-policies|limit-policies)(\/\{\w+\})?$/.test(
          path,
        ),
    );
    assert.deepEqual([...written].sort(), expected.map(({ id }) => id).sort());
  });

  it('says in its audit entry what was before and after', async () => {
    const { provider } = await addOneOfEach(room, room.acme, 'Told');
    const { requestId } = await room.call('updateProvider', room.acme, {
      id: provider.id,
      body: { enabled: false },
    });
    const entry = await room.db
      .selectFrom('audit_log')
      .selectAll()
      .where('organization_id', '=', room.acme.organizationId)
      .where('request_id', '=', requestId)
      .executeTakeFirstOrThrow();
    assert.equal(entry.target_id, provider.id);
    const { before, after } = entry as { before: { enabled: boolean }; after: object };
    assert.equal(before.enabled, true);
    assert.deepEqual(after, { ...before, enabled: false });
  });

  it('that is refused leaves neither a version nor an audit entry behind', async () => {
    const { provider } = await addOneOfEach(room, room.acme, 'Kept');
    const state = async () => {
      const { rows } = await sql<{ count: number }>`select count(*) from audit_log`.execute(room.db);
      return [await room.configVersion(room.acme), rows[0]?.count];
    };
    const before = await state();
    await assert.rejects(room.call('deleteProvider', room.acme, { id: provider.id }), refusal('conflict'));
    assert.deepEqual(await state(), before);
  });

  it('is seen by the snapshot of this process before the answer', async () => {
    await room.snapshots.load(room.acme.organizationId);
    const { lane } = await addOneOfEach(room, room.acme, 'Instant');
    const laneNow = () => room.snapshots.get(room.acme.organizationId)?.lanes.get(lane.id);
    assert.equal(laneNow()?.slug, 'instant');
    await room.call('deleteLane', room.acme, { id: lane.id });
    assert.equal(laneNow(), undefined);
  });

  it('with If-Match happens only on the version that was read', async () => {
    const { lane } = await addOneOfEach(room, room.acme, 'Tagged');
    const body = { name: 'Tagged', default_max_wait_ms: 1, allow_fallback: true, enabled: true };
    const first = await room.call('updateLane', room.acme, { id: lane.id, body });
    const headers = { 'if-match': first.headers.get('ETag') ?? '' };
    const same = await room.call('updateLane', room.acme, { id: lane.id, body, headers });
    assert.equal(same.headers.get('ETag'), headers['if-match'], 'a write that changes nothing keeps the tag');
    const changed = { ...body, default_max_wait_ms: 2 };
    const second = await room.call('updateLane', room.acme, { id: lane.id, body: changed, headers });
    assert.notEqual(second.headers.get('ETag'), headers['if-match']);
    await assert.rejects(
      room.call('updateLane', room.acme, { id: lane.id, body, headers }),
      refusal('version_conflict'),
    );
    await assert.rejects(
      room.call('deleteLane', room.acme, { id: lane.id, headers }),
      refusal('version_conflict'),
    );
    await room.call('deleteLane', room.acme, { id: lane.id, headers: { 'if-match': '*' } });
  });
});

describe('while PostgreSQL is away', () => {
  it('reads and writes answer 503 and never "not found"', async () => {
    const database = await freshDatabase();
    const proxy = await startTcpProxy({ target: database.url });
    const room = await startManagement(proxy.url);
    try {
      const { lane, provider } = await addOneOfEach(room, room.acme);
      await proxy.refuse();
      const unavailable = refusal('store_unavailable');
      await assert.rejects(room.call('listLanes', room.acme), unavailable);
      await assert.rejects(room.call('getProvider', room.acme, { id: provider.id }), unavailable);
      await assert.rejects(room.call('createLane', room.acme, { body: { name: 'X' } }), unavailable);
      await assert.rejects(room.call('deleteLane', room.acme, { id: lane.id }), unavailable);
      // Gateways go on with the configuration they know, and so does the explanation of what they do.
      const ask = { operation: 'chat' as const, body: { model: 'main' } };
      const explained = await room.call('explainRouting', room.acme, { body: ask });
      assert.equal(explained.body.resolved_as, 'lane');
    } finally {
      await room.close();
      await proxy.close();
      await database.drop();
    }
  });
});
