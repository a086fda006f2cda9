import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { describe, it } from 'node:test';
import { prefixOf, shardOfPrefix } from '../../store/redis/shards.ts';
import { windowStartMs } from '../calendar-window.ts';
import {
  DAY,
  FALL_BACK,
  gatewayOf,
  MINUTE,
  policy,
  SAVE,
  serve,
  startFleet,
  UNITS,
  USED,
  until,
} from './lost-state.fixture.ts';

describe('Redis that lost', { concurrency: true }, () => {
  it('everything gets short windows from the ledger, and holders from the gateways', async (test) => {
    const fleet = await startFleet(test);
    const [one, two] = fleet.gateways;
    await serve(fleet, 8, 4);
    await until('four are settled', async () => (await fleet.stream()).length === 4);
    await fleet.work();
    await fleet.redis.run(['FLUSHALL']);
    assert.equal(await fleet.whenOpen(two, fleet.ask([MINUTE])), 'admitted');
    assert.equal(await fleet.whenOpen(one, fleet.ask([MINUTE])), 'admitted');
    assert.equal(await fleet.whenOpen(one, fleet.ask([MINUTE])), 'refused', 'eight and two fill the minute');
    assert.equal(await fleet.used(UNITS), 4);
    assert.equal(await fleet.used(DAY), 8);
    assert.equal([...fleet.epochs.values()].flat().length, 2, 'the epoch was raised once, by one of the two');
  });

  it('everything is read as it is now by a process that was idle meanwhile', async (test) => {
    const fleet = await startFleet(test);
    const [one] = fleet.gateways;
    const { organizationId } = fleet.ask([DAY]);
    const platform = gatewayOf('platform', { ...fleet, organizationId });
    test.after(() => platform.desk.stop(1_000));
    await serve(fleet, 2, 2);
    await until('two are settled', async () => (await fleet.stream()).length === 2);
    await fleet.work();
    await platform.engine.usage(organizationId, [DAY]);
    await fleet.redis.run(['FLUSHALL']);
    assert.equal(await fleet.whenOpen(one, fleet.ask([DAY])), 'admitted');
    const [usage] = await platform.engine.usage(organizationId, [DAY]);
    assert.equal(usage?.used, 3);
  });

  for (const age of ['in the first minute of an epoch', 'later'])
    it(`its last moments ${age} is not believed by those who saw more`, async (test) => {
      const fleet = await startFleet(test);
      const [one, two] = fleet.gateways;
      const [early] = await serve(fleet, 2, 0);
      assert.ok(early !== undefined);
      const prefix = prefixOf(early.organizationId);
      const epoch = String(fleet.epochs.get(shardOfPrefix(prefix))?.at(-1));
      if (age === 'later') await fleet.redis.run(['SET', `${prefix}epoch`, epoch]);
      await fleet.redis.run(['EVAL', SAVE, '0']);
      // Settled and dispatched after the replica stopped following.
      one.desk.settle(early.organizationId, early.operationId, USED, early.operationId);
      await serve(fleet, 6, 2);
      await until('three are settled', async () => (await fleet.stream()).length === 3);
      await fleet.redis.run(['EVAL', FALL_BACK, '0']);
      assert.equal(await fleet.whenOpen(one, fleet.ask([MINUTE])), 'admitted');
      assert.equal(await fleet.whenOpen(two, fleet.ask([MINUTE])), 'admitted');
      assert.equal(
        await fleet.whenOpen(two, fleet.ask([MINUTE])),
        'refused',
        'eight and two fill the minute',
      );
      assert.equal(await fleet.used(UNITS), 5);
      assert.equal(await fleet.used(DAY), 8);
      assert.equal(new Set(await fleet.stream()).size, 3, 'what was settled is sent again');
      assert.equal(fleet.epochs.size, 1);
    });

  it('a settlement gets it again, though no request follows', async (test) => {
    const fleet = await startFleet(test);
    const [one] = fleet.gateways;
    const [each] = await serve(fleet, 1, 0);
    assert.ok(each !== undefined);
    await fleet.redis.run(['EVAL', SAVE, '0']);
    one.desk.settle(each.organizationId, each.operationId, USED, each.operationId);
    await until('it is settled', async () => (await fleet.stream()).length === 1);
    await fleet.redis.run(['EVAL', FALL_BACK, '0']);
    assert.equal((await fleet.stream()).length, 0);
    await until('it is sent again', async () => (await fleet.stream()).includes(each.operationId));
    await fleet.work();
    await until('its unit is free', async () => (await fleet.used(UNITS)) === 0);
    assert.equal(await fleet.used(DAY), 1);
  });

  it('the draft of no request whose gateway is gone', async (test) => {
    const fleet = await startFleet(test);
    const [one, two] = fleet.gateways;
    assert.equal((await two.desk.admit(fleet.ask([MINUTE]))).kind, 'admitted');
    const mine = fleet.ask([MINUTE, UNITS], { draft: 'draft of a gateway that is gone' });
    assert.equal((await two.engine.admit({ ...mine, leaseMs: 6_000 })).kind, 'admitted');
    await fleet.redis.run(['EVAL', SAVE, '0']);
    await serve(fleet, 2, 0);
    await fleet.redis.run(['EVAL', FALL_BACK, '0']);
    assert.equal(await fleet.whenOpen(one, fleet.ask([MINUTE])), 'admitted');
    await until('its draft is in the stream', async () => {
      await one.engine.sweep();
      return (await fleet.stream()).includes(mine.draft);
    });
  });

  it('nothing is believed as it is, also by a gateway that starts without PostgreSQL', async (test) => {
    const fleet = await startFleet(test);
    await serve(fleet, 4, 0);
    const { organizationId } = fleet.ask([]);
    const epochs = { get: () => assert.fail('PostgreSQL is away') } as never;
    const late = gatewayOf('three', { ...fleet, epochs, organizationId });
    test.after(() => late.desk.stop(1_000));
    assert.equal((await late.desk.admit(fleet.ask([MINUTE]))).kind, 'admitted');
    assert.equal(await fleet.used(MINUTE), 5);
  });
});

describe('a shard that has had no epoch', () => {
  it('starts with what the ledger has of the last minute, and is open', async (test) => {
    const fleet = await startFleet(test);
    const [one, two] = fleet.gateways;
    // Another version, or another Redis, served these.
    for (let index = 0; index < MINUTE.limit - 2; index += 1) fleet.ledger.set(randomUUIDv7(), Date.now());
    for (const { desk } of [one, two])
      assert.equal((await desk.admit(fleet.ask([MINUTE, UNITS]))).kind, 'admitted');
    assert.equal((await one.desk.admit(fleet.ask([MINUTE, UNITS]))).kind, 'refused', 'the minute is full');
    assert.equal(await fleet.used(MINUTE), MINUTE.limit);
  });
});

describe('a calendar window that is unknown', () => {
  it('stays unknown when a request is settled that was charged to it', async (test) => {
    const fleet = await startFleet(test);
    const [one] = fleet.gateways;
    const tokens = policy('tokens', { metric: 'tokens', period: 'day' });
    const asked = fleet.ask([tokens]);
    // Less is used than was reserved, so the settlement changes the window.
    const candidates = [{ endpointId: 'e', paced: false, charges: [{ policy: tokens, cost: 5 }] }];
    const each = { ...asked, candidates, leaseMs: 20_000 };
    await one.engine.initialize(each.organizationId, [
      { policy: tokens, startMs: windowStartMs('day', Date.now()), amount: 0 },
    ]);
    assert.equal((await one.engine.admit(each)).kind, 'admitted');
    await fleet.redis.run(['DEL', `${prefixOf(each.organizationId)}${each.organizationId}:heads`]);
    await one.engine.settle({ ...each, actual: USED, record: 'r' });
    assert.deepEqual(await one.engine.admit({ ...each, operationId: randomUUIDv7() }), {
      kind: 'rebuild',
      policyIds: [tokens.id],
    });
  });
});
