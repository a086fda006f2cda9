import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { addOneOfEach, type ManagementFixture, REFUSED, refusal, startManagement } from '../fixture.ts';

describe('endpoints', () => {
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

  it('are created with the defaults of the contract', async () => {
    const { endpoint, provider } = await addOneOfEach(room, room.acme, 'Default');
    assert.deepEqual(
      { ...endpoint, id: '' },
      {
        id: '',
        provider_id: provider.id,
        credential_id: null,
        name: 'Default',
        slug: 'default',
        upstream_model: 'gpt-5',
        route_kind: 'multi',
        protocol: 'openai',
        supports_streaming: true,
        pacing: true,
        max_concurrency: null,
        context_window: null,
        max_latency_ms: 600_000,
        enabled: true,
        health: 'unknown',
        health_detail: { reason: null, since: null, requests: 0, error_share: null, last_error: null },
        cooldown_until: null,
      },
    );
  });

  it('keep what an update leaves out and set what it sends, null included', async () => {
    const { endpoint } = await addOneOfEach(room, room.acme, 'Patched');
    const first = { max_concurrency: 5, context_window: 128_000, pacing: false, enabled: false };
    await room.call('updateEndpoint', room.acme, { id: endpoint.id, body: first });
    const { body } = await room.call('updateEndpoint', room.acme, {
      id: endpoint.id,
      body: { max_concurrency: null, upstream_model: 'gpt-6' },
    });
    assert.deepEqual(body, { ...endpoint, ...first, max_concurrency: null, upstream_model: 'gpt-6' });
    assert.deepEqual((await room.call('getEndpoint', room.acme, { id: endpoint.id })).body, body);
  });

  it('show until when they are cooling down', async () => {
    const { endpoint } = await addOneOfEach(room, room.acme, 'Cooling');
    const untilMs = Date.now() + 60_000;
    room.penalize(endpoint.id, untilMs);
    const { body } = await room.call('getEndpoint', room.acme, { id: endpoint.id });
    assert.equal(body.health, 'rate_limited');
    assert.equal(body.cooldown_until, new Date(untilMs).toISOString());
  });

  it('show what gateways have seen of them, and nothing of before a change', async () => {
    const { endpoint, credential, provider } = await addOneOfEach(room, room.acme, 'Seen');
    const shown = async () => (await room.call('getEndpoint', room.acme, { id: endpoint.id })).body;
    for (let n = 0; n < 3; n += 1) await room.attempted(room.acme, endpoint.id);
    const well = await shown();
    assert.equal(well.health, 'healthy');
    assert.deepEqual([well.health_detail.requests, well.health_detail.error_share], [3, 0]);
    assert.ok(well.health_detail.since);
    for (let n = 0; n < 3; n += 1) await room.attempted(room.acme, endpoint.id, REFUSED);
    const down = await shown();
    assert.deepEqual([down.health, down.health_detail.reason], ['down', 'connection refused']);
    assert.deepEqual(down.health_detail.last_error?.status, null);
    const { body: listed } = await room.call('listEndpoints', room.acme);
    assert.equal(listed.find(({ id }) => id === endpoint.id)?.health, 'down');
    await room.call('updateProvider', room.acme, {
      id: provider.id,
      body: { base_url: `${provider.base_url}/elsewhere` },
    });
    assert.equal((await shown()).health, 'unknown');

    const rejected = { count: 'credential_refused', hard: true } as const;
    const error = { message: 'credential rejected (401)', status: 401 };
    for (let n = 0; n < 3; n += 1) await room.attempted(room.acme, endpoint.id, { ...rejected, error });
    const refused = await shown();
    assert.deepEqual([refused.health, refused.health_detail.reason], ['down', 'credential rejected (401)']);
    await room.call('updateCredential', room.acme, { id: credential.id, body: { secret: 'another' } });
    assert.equal((await shown()).health, 'unknown');
  });

  it('need a provider of the same organization and a credential of that provider', async () => {
    const mine = await addOneOfEach(room, room.acme, 'Mine');
    const other = await addOneOfEach(room, room.acme, 'Other');
    const foreign = await addOneOfEach(room, room.globex, 'Foreign');
    const body = { name: 'E', upstream_model: 'm', route_kind: 'chat' as const };
    await assert.rejects(
      room.call('createEndpoint', room.acme, { body: { ...body, provider_id: foreign.provider.id } }),
      refusal('not_found', 'provider_id'),
    );
    const withCredential = (credentialId: string) =>
      room.call('createEndpoint', room.acme, {
        body: { ...body, provider_id: mine.provider.id, credential_id: credentialId },
      });
    await assert.rejects(
      withCredential(foreign.credential.id),
      refusal('not_found', 'credential_id', /no such credential in this organization/),
    );
    await assert.rejects(
      withCredential(other.credential.id),
      refusal('invalid_request', 'credential_id', /another provider/),
    );
    await assert.rejects(
      room.call('updateEndpoint', room.acme, {
        id: mine.endpoint.id,
        body: { credential_id: other.credential.id },
      }),
      refusal('invalid_request', 'credential_id', /another provider/),
    );
    assert.equal((await withCredential(mine.credential.id)).body.credential_id, mine.credential.id);
  });

  it('refuse numbers that the database cannot hold by the name of their field', async () => {
    const { endpoint } = await addOneOfEach(room, room.acme, 'Large');
    for (const field of ['max_concurrency', 'context_window'] as const) {
      await assert.rejects(
        room.call('updateEndpoint', room.acme, { id: endpoint.id, body: { [field]: 2 ** 40 } }),
        refusal('invalid_request', field, /at most/),
      );
    }
  });

  it('are not deleted while lanes use them, and take their prices along', async () => {
    const { endpoint, lane, membership } = await addOneOfEach(room, room.acme, 'Gone');
    const { body: other } = await room.call('createLane', room.acme, {
      body: { name: 'Also Gone', members: [{ endpoint_id: endpoint.id, enabled: false }] },
    });
    await assert.rejects(
      room.call('deleteEndpoint', room.acme, { id: endpoint.id }),
      refusal('conflict', 'endpoint_id', /used by lanes "Gone", "Also Gone"/),
    );
    assert.equal((await room.call('getLane', room.acme, { id: lane.id })).body.members.length, 1);
    await room.call('deleteMembership', room.acme, { id: membership.id });
    await room.call('deleteLane', room.acme, { id: other.id });
    await room.call('deleteEndpoint', room.acme, { id: endpoint.id });
    const { body: prices } = await room.call('listPricingPolicies', room.acme);
    assert.ok(prices.every(({ endpoint_id }) => endpoint_id !== endpoint.id));
  });
});
