import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ConfigFile } from '@relay/contract';
import type { Caller } from '../../domain/caller.ts';
import { refusal } from '../fixture.ts';
import { configFileRoom } from './config-file.fixture.ts';

const OWN = { input_cost_micros_per_1m_tokens: 7, output_cost_micros_per_1m_tokens: 8 };

/** A file with an endpoint of a provider that the catalog knows. */
function fileOf(model: string, prices: Partial<ConfigFile> = {}): ConfigFile {
  return {
    version: 1,
    providers: [{ name: 'OpenAI', base_url: 'https://api.openai.com/v1', auth_mode: 'none' }],
    endpoints: [{ name: 'Model', provider: 'openai', upstream_model: model, route_kind: 'chat' }],
    ...prices,
  };
}
const withOwnPrice = { pricing_policies: [{ endpoint: 'model', ...OWN }] };

describe('the prices of endpoints that the file creates', () => {
  const { room, empty, exported, plan, apply } = configFileRoom();

  async function prices(caller: Caller) {
    const { body } = await room().call('listPricingPolicies', caller);
    return body.map((price) => [
      price.input_cost_micros_per_1m_tokens,
      price.source,
      price.managed_by ?? null,
    ]);
  }
  const mini = [150_000, 'catalog', null];

  it('are those of the catalogue, planned and audited like any change, and not the file’s', async () => {
    const caller = await empty();
    const planned = await plan(caller, fileOf('gpt-4o-mini'));
    assert.deepEqual(
      planned.changes.map(({ action, section, key }) => [action, section, key]),
      [
        ['create', 'providers', 'openai'],
        ['create', 'endpoints', 'model'],
        ['create', 'pricing_policies', 'model'],
      ],
    );
    await apply(caller, fileOf('gpt-4o-mini'), { plan_hash: planned.plan_hash });
    assert.deepEqual(await prices(caller), [mini]);
    assert.deepEqual((await plan(caller, fileOf('gpt-4o-mini'), { prune: true })).changes, []);
    const trail = await room()
      .db.selectFrom('audit_log')
      .select('action')
      .where('organization_id', '=', caller.organizationId)
      .orderBy('action')
      .execute();
    assert.deepEqual(
      trail.map(({ action }) => action),
      ['endpoint.create', 'pricing_policy.create', 'provider.create'],
    );
  });

  it('are not exported, and arrive all the same', async () => {
    const [source, target] = [await empty(), await empty()];
    await apply(source, fileOf('gpt-4o-mini'));
    const there = await exported(source);
    assert.equal(there.pricing_policies, undefined);
    await apply(target, there);
    assert.deepEqual(await prices(target), [mini]);
    assert.equal(JSON.stringify(await exported(target)), JSON.stringify(there));
    assert.deepEqual((await plan(source, there)).changes, []);
  });

  it('give way to one that the file names, and come back when it no longer does', async () => {
    const caller = await empty();
    await apply(caller, fileOf('gpt-4o-mini'));
    await apply(caller, fileOf('gpt-4o-mini', withOwnPrice));
    assert.deepEqual(await prices(caller), [[7, 'manual', 'file']]);
    assert.equal((await exported(caller)).pricing_policies?.length, 1);
    const back = await apply(caller, fileOf('gpt-4o-mini'), { prune: true });
    assert.deepEqual([back.updates, back.deletes], [1, 0]);
    assert.deepEqual(await prices(caller), [mini]);
  });

  it('are not made where the file names one, or where there is none in the catalogue', async () => {
    const caller = await empty();
    await apply(caller, fileOf('gpt-4o-mini', withOwnPrice));
    assert.deepEqual(await prices(caller), [[7, 'manual', 'file']]);
    const other = await empty();
    await apply(other, fileOf('a-model-of-our-own'));
    assert.deepEqual(await prices(other), []);
  });

  it('follow the model, unless somebody set or took them away', async () => {
    const caller = await empty();
    await apply(caller, fileOf('a-model-of-our-own'));
    await apply(caller, fileOf('gpt-4o-mini'));
    assert.deepEqual(await prices(caller), [mini]);
    await apply(caller, fileOf('gpt-4o'));
    assert.deepEqual(await prices(caller), [[2_500_000, 'catalog', null]]);
    await apply(caller, { version: 1 }, { release: true });
    const { body } = await room().call('listPricingPolicies', caller);
    await room().call('deletePricingPolicy', caller, { id: body[0]?.id ?? '' });
    await apply(caller, fileOf('gpt-4o-mini'));
    assert.deepEqual(await prices(caller), []);
    await apply(caller, fileOf('a-model-of-our-own'));
    assert.deepEqual(await prices(caller), []);
  });

  it('go with a model that has none', async () => {
    const caller = await empty();
    await apply(caller, fileOf('gpt-4o-mini'));
    await apply(caller, fileOf('a-model-of-our-own'));
    assert.deepEqual(await prices(caller), []);
  });

  it('go with their endpoint when it is pruned, as one that was set by hand before', async () => {
    const caller = await empty();
    await apply(caller, fileOf('gpt-4o-mini'));
    const pruned = await apply(caller, { version: 1 }, { prune: true });
    assert.equal(pruned.deletes, 3);
    await apply(caller, fileOf('gpt-4o-mini'));
    await apply(caller, { version: 1 }, { release: true });
    const { body } = await room().call('listPricingPolicies', caller);
    const id = body[0]?.id ?? '';
    await room().call('updatePricingPolicy', caller, { id, body: OWN });
    const applied = await apply(caller, fileOf('gpt-4o-mini'));
    assert.deepEqual(
      applied.orphaned.map(({ section, id: orphan }) => [section, orphan]),
      [['pricing_policies', id]],
    );
    await assert.rejects(
      room().call('updatePricingPolicy', caller, { id, body: { flat_request_cost_micros: 1 } }),
      refusal('managed_by_file', undefined, /endpoint "Model"/),
    );
    await apply(caller, fileOf('gpt-4o-mini'), { prune: true });
    assert.deepEqual(await prices(caller), [mini], 'the price list’s again');
    assert.equal((await apply(caller, { version: 1 }, { prune: true })).deletes, 3);
  });
});
