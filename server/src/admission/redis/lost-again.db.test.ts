import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { prefixOf } from '../../store/redis/shards.ts';
import {
  DAY,
  type Fleet,
  type Gateway,
  MINUTE,
  policy,
  serve,
  startFleet,
  UNITS,
  USED,
  until,
} from './lost-state.fixture.ts';

const MANY = 60;
const MANY_A_DAY = policy('many', { metric: 'requests', period: 'day', limit: 1_000 });
const MANY_UNITS = policy('many-units', { metric: 'concurrency', period: 'none', limit: 1_000 });

const lose = ({ redis }: Fleet) => redis.run(['FLUSHALL']);

async function serveBy({ desk }: Gateway, fleet: Fleet, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const each = fleet.ask([MINUTE, DAY]);
    assert.equal((await desk.admit(each)).kind, 'admitted');
    desk.settle(each.organizationId, each.operationId, USED, each.operationId);
  }
  await until('all are settled', async () => (await fleet.stream()).length === count);
}

/** How many more the limit lets in. */
async function letIn(fleet: Fleet, gateway: Gateway, limit: typeof MINUTE): Promise<number> {
  let count = 0;
  while ((await fleet.whenOpen(gateway, fleet.ask([limit]))) === 'admitted') count += 1;
  return count;
}

describe('Redis that lost everything again', { concurrency: true }, () => {
  it('before all gateways knew of the first loss is not taken for the state that one of them has rebuilt', async (test) => {
    const fleet = await startFleet(test);
    const [one, two] = fleet.gateways;
    for (let index = 0; index < 8; index += 1)
      assert.equal((await one.desk.admit(fleet.ask([UNITS]))).kind, 'admitted');
    await lose(fleet);
    const leases = `${prefixOf(fleet.ask([]).organizationId)}leases`;
    await until(
      'one has written its eight again',
      async () => (await fleet.redis.run(['HLEN', leases])) === 8,
    );
    await lose(fleet);
    assert.equal(await letIn(fleet, two, UNITS), 2, 'eight of ten units are lent');
  });

  it('twice while it is rebuilt charges each request once, in flight or settled meanwhile', async (test) => {
    const fleet = await startFleet(test);
    const asks = Array.from({ length: MANY }, () => fleet.ask([MANY_A_DAY, MANY_UNITS]));
    for (const [index, ask] of asks.entries())
      assert.equal((await fleet.gateways[index % 2 === 0 ? 0 : 1].desk.admit(ask)).kind, 'admitted');
    const settled: string[] = [];
    const settleSome = async (count: number, everyMs: number) => {
      for (let index = 0; index < count; index += 1) {
        const ask = asks[settled.length] ?? assert.fail('all are settled');
        const { desk } = fleet.gateways[settled.length % 2 === 0 ? 0 : 1];
        desk.settle(ask.organizationId, ask.operationId, USED, ask.operationId);
        settled.push(ask.operationId);
        await delay(everyMs);
      }
    };
    await settleSome(10, 0);
    await lose(fleet);
    // Until the gateways write again what was lost.
    await settleSome(15, 100);
    await lose(fleet);
    await settleSome(15, 20);
    await lose(fleet);
    await settleSome(10, 200);
    const [one, two] = fleet.gateways;
    for (const gateway of [one, two]) await fleet.whenOpen(gateway, fleet.ask([MINUTE]));
    await until('all that was settled is in the stream', async () => {
      const stream = new Set(await fleet.stream());
      return settled.every((id) => stream.has(id));
    });
    assert.equal(await fleet.used(MANY_A_DAY), MANY);
    await until('what is in flight has its units', async () => {
      return (await fleet.used(MANY_UNITS)) === MANY - settled.length;
    });
  });

  it('is rebuilt when the ledger can be read again', async (test) => {
    const fleet = await startFleet(test);
    const [one] = fleet.gateways;
    await serveBy(one, fleet, 6);
    await lose(fleet);
    fleet.away.ledger = true;
    await delay(5_000);
    fleet.away.ledger = false;
    assert.equal(await letIn(fleet, one, MINUTE), 4);
  });
});

describe('a gateway without anything in flight', () => {
  it('writes what it settled and the ledger does not have before others are let in', async (test) => {
    const fleet = await startFleet(test);
    const [one, two] = fleet.gateways;
    await serveBy(one, fleet, 6);
    await lose(fleet);
    assert.equal(await letIn(fleet, two, MINUTE), 4);
  });
});

describe('a settlement whose answer comes after the loss', () => {
  it('is sent again', async (test) => {
    const fleet = await startFleet(test);
    const [one] = fleet.gateways;
    await serve(fleet, 2, 0);
    const asked = fleet.ask([MINUTE, DAY]);
    const each = { ...asked, operationId: randomUUIDv7() };
    assert.equal((await one.desk.admit(each)).kind, 'admitted');
    // Both are on their way together.
    const lost = lose(fleet);
    one.desk.settle(each.organizationId, each.operationId, USED, each.operationId);
    await lost;
    await until('it is in the stream', async () => (await fleet.stream()).includes(each.operationId));
    assert.equal(await letIn(fleet, one, MINUTE), 7);
  });
});

describe('a request that was served without the store', () => {
  it('gets its row though the store lost what the journal had delivered', async (test) => {
    const fleet = await startFleet(test);
    const [one] = fleet.gateways;
    await serve(fleet, 2, 0);
    await lose(fleet);
    // The state is refused, and nothing is charged: the gateway serves it alone.
    const each = fleet.ask([]);
    assert.equal((await one.desk.admit(each)).kind, 'admitted');
    one.desk.settle(each.organizationId, each.operationId, USED, each.operationId);
    await fleet.whenOpen(one, fleet.ask([MINUTE]));
    await lose(fleet);
    await until('its record is in the stream', async () => (await fleet.stream()).includes(each.operationId));
  });
});
