import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import {
  addOneOfEach,
  lockIsAwaited,
  type ManagementFixture,
  REFUSED,
  refusal,
  startManagement,
} from '../fixture.ts';

describe('providers', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  const anyId = '0192f3a0-0000-7000-8000-000000000000';
  const plain = (name: string) => ({ name, base_url: 'https://api.example.com/v1' });

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url);
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  it('are created with defaults, a slug and a base URL without its trailing slash', async () => {
    const { body } = await room.call('createProvider', room.acme, {
      body: { name: 'Open AI', base_url: 'https://API.example.com:443/v1/' },
    });
    assert.deepEqual(
      { ...body, id: '' },
      {
        id: '',
        name: 'Open AI',
        slug: 'open-ai',
        base_url: 'https://api.example.com/v1',
        auth_mode: 'bearer_static',
        auth_header_name: null,
        aws_region: null,
        aws_service: null,
        max_latency_ms: 600_000,
        has_credential: false,
        health: 'unknown',
        health_detail: { reason: null, since: null, requests: 0, error_share: null, last_error: null },
        preset_slug: null,
        extra_headers: null,
        extra_query: null,
        health_probe: 'off',
        enabled: true,
      },
    );
    assert.deepEqual((await room.call('getProvider', room.acme, { id: body.id })).body, body);
  });

  it('of one name get the slugs name, name-2, name-3', async () => {
    const slugs: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      slugs.push((await room.call('createProvider', room.acme, { body: plain('Same name') })).body.slug);
    }
    assert.deepEqual(slugs, ['same-name', 'same-name-2', 'same-name-3']);
    const { body } = await room.call('createProvider', room.globex, { body: plain('Same name') });
    assert.equal(body.slug, 'same-name');
  });

  it('of one name created at the same moment all succeed, each with a slug of its own', async () => {
    const created = await Promise.all(
      Array.from({ length: 12 }, () => room.call('createProvider', room.acme, { body: plain('Rush') })),
    );
    const slugs = created.map(({ body }) => body.slug).sort();
    const expected = ['rush', ...Array.from({ length: 11 }, (_, index) => `rush-${index + 2}`)].sort();
    assert.deepEqual(slugs, expected);
  });

  it('keep what an update leaves out, and their slug when renamed', async () => {
    const { body: created } = await room.call('createProvider', room.acme, {
      body: { ...plain('Before'), max_latency_ms: 5_000, preset_slug: 'openrouter' },
    });
    const { body } = await room.call('updateProvider', room.acme, {
      id: created.id,
      body: { name: 'After' },
    });
    assert.deepEqual(body, { ...created, name: 'After' });
    assert.deepEqual((await room.call('updateProvider', room.acme, { id: created.id, body: {} })).body, body);
  });

  it('refuse a base URL the egress door would not dial, and say why', async () => {
    const cases: [string, RegExp][] = [
      ['http://127.0.0.1:9999/v1', /loopback/],
      ['http://169.254.169.254/latest', /private, loopback or reserved/],
      ['http://localhost/v1', /loopback/],
      ['https://user:pw@api.example.com', /user name or password/],
      ['https://api.example.com/v1#key=1', /query or fragment/],
      ['https://{resource}.example.com/v1', /still has \{resource\}/],
      ['https://api.example.com\\@evil.example', /backslashes/],
    ];
    for (const [baseUrl, words] of cases) {
      await assert.rejects(
        room.call('createProvider', room.acme, { body: { name: 'Bad', base_url: baseUrl } }),
        refusal('invalid_request', 'base_url', words),
      );
    }
    const { body: good } = await room.call('createProvider', room.acme, { body: plain('Good') });
    await assert.rejects(
      room.call('updateProvider', room.acme, { id: good.id, body: { base_url: 'http://10.0.0.1/' } }),
      refusal('invalid_request', 'base_url'),
    );
  });

  it('with header_static need a header name that is free to set', async () => {
    const body = { ...plain('Header'), auth_mode: 'header_static' as const };
    await assert.rejects(
      room.call('createProvider', room.acme, { body }),
      refusal('invalid_request', 'auth_header_name', /x-api-key/),
    );
    for (const name of [
      'Host',
      'content-length',
      'Connection',
      'transfer-encoding',
      'COOKIE',
      'proxy-authorization',
      'x-relay-a',
    ]) {
      await assert.rejects(
        room.call('createProvider', room.acme, { body: { ...body, auth_header_name: name } }),
        refusal('invalid_request', 'auth_header_name'),
      );
    }
    const { body: made } = await room.call('createProvider', room.acme, {
      body: { ...body, auth_header_name: 'x-api-key' },
    });
    assert.equal(made.auth_header_name, 'x-api-key');
    await assert.rejects(
      room.call('updateProvider', room.acme, { id: made.id, body: { auth_header_name: null } }),
      refusal('invalid_request', 'auth_header_name'),
    );
  });

  it('do not move to another origin while credentials exist, enabled or not', async () => {
    const { provider, credential } = await addOneOfEach(room, room.acme, 'Bound');
    const move = { id: provider.id, body: { base_url: 'https://other.example.com/v1' } };
    await assert.rejects(
      room.call('updateProvider', room.acme, move),
      refusal('conflict', 'base_url', /"Bound"/),
    );
    await room.call('updateCredential', room.acme, { id: credential.id, body: { enabled: false } });
    await assert.rejects(room.call('updateProvider', room.acme, move), refusal('conflict', 'base_url'));
    await assert.rejects(
      room.call('updateProvider', room.acme, { ...move, body: { base_url: 'http://api.example.com/v1' } }),
      refusal('conflict', 'base_url'),
    );
    const samePlace = { id: provider.id, body: { base_url: 'https://api.example.com/v2' } };
    assert.equal(
      (await room.call('updateProvider', room.acme, samePlace)).body.base_url,
      'https://api.example.com/v2',
    );
    await room.call('deleteCredential', room.acme, { id: credential.id });
    assert.equal(
      (await room.call('updateProvider', room.acme, move)).body.base_url,
      'https://other.example.com/v1',
    );
  });

  it('wait for a credential that is being stored before they decide whether they may move', async () => {
    const { body: provider } = await room.call('createProvider', room.acme, { body: plain('Racing') });
    let move: Promise<unknown> | undefined;
    await room.db.transaction().execute(async (tx) => {
      await tx
        .insertInto('credentials')
        .values({
          organization_id: room.acme.organizationId,
          id: anyId,
          provider_id: provider.id,
          name: 'Arriving',
          sealed_secret: room.sealer.seal('sk-arriving', []),
          key_id: room.sealer.keyId,
        })
        .execute();
      const body = { base_url: 'https://moved.example.com' };
      move = room.call('updateProvider', room.acme, { id: provider.id, body });
      move.catch(() => undefined);
      await lockIsAwaited(room.db);
    });
    await assert.rejects(move ?? Promise.resolve(), refusal('conflict', 'base_url', /"Arriving"/));
  });

  it('show whether an enabled credential is stored', async () => {
    const { provider, credential } = await addOneOfEach(room, room.acme, 'Shown');
    const shown = async () =>
      (await room.call('getProvider', room.acme, { id: provider.id })).body.has_credential;
    assert.equal(await shown(), true);
    await room.call('updateCredential', room.acme, { id: credential.id, body: { enabled: false } });
    assert.equal(await shown(), false);
  });

  it('are cooling down only while every enabled endpoint is', async () => {
    const { provider, endpoint } = await addOneOfEach(room, room.acme, 'Cooling');
    const health = async () => (await room.call('getProvider', room.acme, { id: provider.id })).body.health;
    room.penalize(endpoint.id, Date.now() + 60_000);
    assert.equal(await health(), 'rate_limited');
    const { body: well } = await room.call('createEndpoint', room.acme, {
      body: { provider_id: provider.id, name: 'Well', upstream_model: 'm', route_kind: 'chat' },
    });
    assert.equal(await health(), 'rate_limited', 'nothing is known of the other');
    await room.attempted(room.acme, well.id);
    assert.equal(await health(), 'degraded');
  });

  it('sum up what was seen of their endpoints', async () => {
    const { provider, endpoint } = await addOneOfEach(room, room.acme, 'Summed');
    const shown = async () => (await room.call('getProvider', room.acme, { id: provider.id })).body;
    assert.equal((await shown()).health, 'unknown');
    const { body: other } = await room.call('createEndpoint', room.acme, {
      body: { provider_id: provider.id, name: 'Other', upstream_model: 'm', route_kind: 'chat' },
    });
    for (let n = 0; n < 5; n += 1) await room.attempted(room.acme, other.id);
    assert.equal((await shown()).health, 'healthy');
    for (let n = 0; n < 3; n += 1) await room.attempted(room.acme, endpoint.id, REFUSED);
    const partly = await shown();
    assert.equal(partly.health, 'degraded');
    assert.equal(partly.health_detail.reason, '1 of 2 endpoints: connection refused');
    assert.deepEqual([partly.health_detail.requests, partly.health_detail.error_share], [8, 0.375]);
    for (let n = 0; n < 3; n += 1) await room.attempted(room.acme, other.id, REFUSED);
    const down = await shown();
    assert.deepEqual([down.health, down.health_detail.reason], ['down', 'connection refused']);
    assert.equal(down.health_detail.last_error?.message, 'connection refused');
  });

  it('are not deleted while endpoints use them, and take their credentials along', async () => {
    const { provider, endpoint, lane } = await addOneOfEach(room, room.acme, 'Used');
    await assert.rejects(
      room.call('deleteProvider', room.acme, { id: provider.id }),
      refusal('conflict', 'provider_id', /endpoint "Used"/),
    );
    await room.call('deleteLane', room.acme, { id: lane.id });
    await room.call('deleteEndpoint', room.acme, { id: endpoint.id });
    await room.call('deleteProvider', room.acme, { id: provider.id });
    await assert.rejects(room.call('getProvider', room.acme, { id: provider.id }), refusal('not_found'));
    const { body: credentials } = await room.call('listCredentials', room.acme);
    assert.ok(credentials.every(({ provider_id }) => provider_id !== provider.id));
  });

  it('answer not found for ids that do not exist or cannot', async () => {
    for (const id of [anyId, 'nonsense', "' or 1=1 --", 'x'.repeat(100)]) {
      await assert.rejects(room.call('getProvider', room.acme, { id }), refusal('not_found'));
      await assert.rejects(room.call('updateProvider', room.acme, { id, body: {} }), refusal('not_found'));
      await assert.rejects(room.call('deleteProvider', room.acme, { id }), refusal('not_found'));
    }
  });

  it('refuse text that the database cannot hold by the name of its field', async () => {
    await assert.rejects(
      room.call('createProvider', room.acme, { body: plain('a\0b') }),
      refusal('invalid_request', 'name', /NUL/),
    );
  });
});
