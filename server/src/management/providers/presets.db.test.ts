import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ProviderCreate, ProviderUpdate } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { type ManagementFixture, refusal, startManagement } from '../fixture.ts';

describe('presets of providers', () => {
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

  const create = (body: ProviderCreate) => room.call('createProvider', room.acme, { body });

  it('are listed, by pages too', async () => {
    const { body: whole } = await room.call('listProviderPresets', room.acme);
    assert.ok(whole.length >= 22);
    const first = await room.call('listProviderPresets', room.acme, { query: { limit: 20 } });
    const cursor = first.headers.get('X-Next-Cursor') ?? '';
    const rest = await room.call('listProviderPresets', room.acme, { query: { limit: 20, cursor } });
    assert.deepEqual([...first.body, ...rest.body], whole);
  });

  it('fill in what a new provider leaves out, and nothing that it says', async () => {
    const { body: groq } = await create({ name: 'Groq', preset_slug: 'groq' });
    assert.equal(groq.base_url, 'https://api.groq.com/openai/v1');
    const { body: azure } = await create({
      name: 'Azure',
      preset_slug: 'azure-openai-classic',
      base_url: 'https://contoso.openai.azure.com/openai?api-version=2025-01-01',
    });
    assert.deepEqual(
      [azure.base_url, azure.auth_mode, azure.auth_header_name, azure.extra_query],
      [
        'https://contoso.openai.azure.com/openai',
        'header_static',
        'api-key',
        { 'api-version': '2025-01-01' },
      ],
    );
    const { body: plain } = await create({ name: 'Plain', preset_slug: 'openrouter', extra_headers: null });
    assert.equal(plain.extra_headers, null);
  });

  it('leave placeholders to the operator', async () => {
    const unfilled = create({ name: 'Azure', preset_slug: 'azure-openai' });
    await assert.rejects(unfilled, refusal('invalid_request', 'base_url', /still has \{resource\}/));
    await assert.rejects(create({ name: 'None' }), refusal('invalid_request', 'base_url', /is missing/));
  });

  it('are known ones; what an earlier version stored stays until it is changed', async () => {
    const refused = refusal('invalid_request', 'preset_slug', /No preset is named "gorq"/);
    await assert.rejects(create({ name: 'None', preset_slug: 'gorq' }), refused);
    const base_url = 'https://api.example.com/v1';
    await assert.rejects(create({ name: 'None', preset_slug: 'gorq', base_url }), refused);
    const { body: provider } = await create({ name: 'Old', base_url });
    await room.db
      .updateTable('providers')
      .set({ preset_slug: 'gone' })
      .where('id', '=', provider.id)
      .execute();
    const change = (body: object) => room.call('updateProvider', room.acme, { id: provider.id, body });
    assert.equal((await change({ preset_slug: 'gone', name: 'Older' })).body.preset_slug, 'gone');
    await assert.rejects(change({ preset_slug: 'gorq' }), refused);
    assert.equal((await change({ preset_slug: null })).body.preset_slug, null);
  });

  it('say what their endpoints speak', async () => {
    const { body: provider } = await create({ name: 'Anthropic', preset_slug: 'anthropic' });
    const endpoint = {
      provider_id: provider.id,
      name: 'E',
      upstream_model: 'm',
      route_kind: 'multi' as const,
    };
    const { body: made } = await room.call('createEndpoint', room.acme, { body: endpoint });
    assert.equal(made.protocol, 'anthropic');
    const { body: said } = await room.call('createEndpoint', room.acme, {
      body: { ...endpoint, protocol: 'openai' },
    });
    assert.equal(said.protocol, 'openai');
  });

  it('do not come back when a provider is changed; extras are kept, replaced and cleared', async () => {
    const { body: made } = await create({ name: 'Router', preset_slug: 'openrouter' });
    const change = async (body: ProviderUpdate) =>
      (await room.call('updateProvider', room.acme, { id: made.id, body })).body;
    assert.deepEqual((await change({ name: 'Renamed' })).extra_headers, { 'X-Title': 'Relay' });
    assert.deepEqual((await change({ extra_headers: { 'X-Title': 'Other' } })).extra_headers, {
      'X-Title': 'Other',
    });
    assert.equal((await change({ extra_headers: {} })).extra_headers, null);
    assert.deepEqual((await change({ base_url: 'https://openrouter.ai/api/v1?a=b' })).extra_query, {
      a: 'b',
    });
    await assert.rejects(
      change({ extra_headers: { Cookie: 'a=b' } }),
      refusal('invalid_request', 'extra_headers', /must not set cookie/),
    );
  });
});
