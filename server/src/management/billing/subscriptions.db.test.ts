import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ManagementFixture } from '../fixture.ts';
import { type BillingRoom, startBilling } from './billing-room.fixture.ts';
import * as stripe from './stripe-events.fixture.ts';

const { event, freshId, NOVEMBER } = stripe;

describe('events about subscriptions', () => {
  let billing: BillingRoom;
  let room: ManagementFixture;
  let fences: BillingRoom['fences'];
  before(async () => {
    billing = await startBilling();
    ({ room, fences } = billing);
  });
  after(() => billing.close());

  const send = (...sent: stripe.SentEvent[]) => billing.send(...sent);

  it('set the plan, with an entry in the log, and behind a fence before they are answered', async () => {
    const { caller, customerId } = await billing.organization();
    const productId = await billing.productFor('team');
    const held = stripe.subscription(customerId, [productId]);
    const version = await room.configVersion(caller);
    fences.raised = [];
    await send(event('customer.subscription.created', held, NOVEMBER + 1));
    assert.equal(await billing.planOf(caller), 'team');
    const changed = await room.configVersion(caller);
    assert.ok(changed > version);
    assert.deepEqual(fences.raised, [{ organizationId: caller.organizationId, version: changed }]);
    await send(event('customer.subscription.updated', held, NOVEMBER + 2));
    assert.equal(fences.raised.length, 1);

    await send(event('customer.subscription.deleted', { ...held, status: 'canceled' }, NOVEMBER + 3));
    assert.equal(await billing.planOf(caller), 'closed');
    assert.equal(fences.raised.length, 2);
    const entries = await room.db
      .selectFrom('audit_log')
      .select(['actor_type', 'action', 'before', 'after'])
      .where('organization_id', '=', caller.organizationId)
      .where('action', '=', 'organization.change_plan')
      .orderBy('id')
      .execute();
    assert.deepEqual(
      entries.map(({ actor_type, before: from, after: to }) => [actor_type, from, to]),
      [
        ['system', { plan: 'self_hosted' }, { plan: 'team' }],
        ['system', { plan: 'team' }, { plan: 'closed' }],
      ],
    );
    assert.deepEqual(
      (await billing.historyOf(caller)).activities.map(({ type, status, plan }) => [type, status, plan]),
      [
        ['subscription.deleted', 'canceled', 'closed'],
        ['subscription.updated', 'active', null],
        ['subscription.created', 'active', 'team'],
        ['customer.linked', null, null],
      ],
    );
  });

  it('do not open again what a later one has closed', async () => {
    const { caller, customerId } = await billing.organization();
    const held = stripe.subscription(customerId, [await billing.productFor('team')]);
    const deleted = event('customer.subscription.deleted', { ...held, status: 'canceled' }, NOVEMBER + 2);
    const seen = await send(deleted, event('customer.subscription.updated', held, NOVEMBER + 1));
    assert.deepEqual(seen, ['applied', 'outdated']);
    assert.equal(await billing.planOf(caller), 'closed');
  });

  it('do not close what another subscription still gives', async () => {
    const { caller, customerId } = await billing.organization();
    const [team, enterprise] = [await billing.productFor('team'), await billing.productFor('enterprise')];
    const old = stripe.subscription(customerId, [team]);
    await send(
      event('customer.subscription.created', old),
      event('customer.subscription.created', stripe.subscription(customerId, [enterprise])),
      event('customer.subscription.deleted', { ...old, status: 'canceled' }, NOVEMBER + 1),
    );
    assert.equal(await billing.planOf(caller), 'enterprise');
  });

  it('change nothing before it is known what their product stands for', async () => {
    const { caller, customerId } = await billing.organization();
    const old = stripe.subscription(customerId, [await billing.productFor('team')]);
    const unknown = freshId('prod');
    await send(event('customer.subscription.created', old));
    const seen = await send(
      event('customer.subscription.created', stripe.subscription(customerId, [unknown])),
      event('customer.subscription.deleted', { ...old, status: 'canceled' }, NOVEMBER + 1),
    );
    assert.deepEqual(seen, ['kept', 'applied']);
    assert.equal(await billing.planOf(caller), 'team');
    await send(event('product.updated', stripe.product(unknown, 'enterprise')));
    assert.equal(await billing.planOf(caller), 'enterprise');
  });

  it('raise the fence when they are delivered again after it could not be', async () => {
    const { caller, customerId } = await billing.organization();
    const sent = event(
      'customer.subscription.created',
      stripe.subscription(customerId, [await billing.productFor('free')]),
    );
    fences.fail = true;
    await assert.rejects(send(sent), /Redis is away/);
    fences.fail = false;
    fences.raised = [];
    assert.deepEqual(await send(sent), ['duplicate']);
    assert.deepEqual(fences.raised, [
      { organizationId: caller.organizationId, version: await room.configVersion(caller) },
    ]);
  });

  it('meet changes of the configuration without a deadlock', async () => {
    const { caller, customerId } = await billing.organization();
    const [team, best] = [await billing.productFor('team'), await billing.productFor('enterprise')];
    const held = stripe.subscription(customerId, [team]);
    const changes = Array.from({ length: 12 }, (_, index) =>
      send(
        event(
          'customer.subscription.updated',
          { ...held, items: { data: [{ price: { product: index % 2 === 0 ? team : best } }] } },
          NOVEMBER + index,
        ),
      ),
    );
    const writes = Array.from({ length: 12 }, (_, index) =>
      room.call('createLane', caller, { body: { name: `Lane ${index}` } }),
    );
    await Promise.all([...changes, ...writes]);
    assert.equal(await billing.planOf(caller), 'enterprise');
  });
});
