import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RelayError } from '../../domain/relay-error.ts';
import { createConnectionLine } from './connection-line.ts';

const busy = (why: RegExp) => (error: unknown) =>
  error instanceof RelayError && error.code === 'store_unavailable' && why.test(error.detail.internal ?? '');

describe('the line for connections', () => {
  it('lets in as many as there are places, then in the order of arrival', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const line = createConnectionLine({ places: 2, stillMsMax: 2_000 });
    const order: number[] = [];
    const enter = async (number: number) => {
      const leave = await line.enter();
      order.push(number);
      return leave;
    };
    const [first, second, third, fourth] = [enter(1), enter(2), enter(3), enter(4)];
    await Promise.all([first, second]);
    assert.deepEqual(order, [1, 2]);
    const leave = await second;
    leave();
    leave();
    await third;
    assert.deepEqual(order, [1, 2, 3], 'leaving twice frees one place');
    (await first)();
    await fourth;
    assert.deepEqual(order, [1, 2, 3, 4]);
  });

  it('waits for as long as it moves, and not beyond the longest wait', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const line = createConnectionLine({ places: 1, stillMsMax: 2_000, waitMsMax: 5_000 });
    let leave = await line.enter();
    const turns = Array.from({ length: 9 }, () => line.enter());
    const settled = Promise.allSettled(turns);
    for (const turn of turns.slice(0, 3)) {
      test.mock.timers.tick(1_500);
      leave();
      leave = await turn;
    }
    test.mock.timers.tick(1_500);
    const results = await settled;
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 3);
    const last = results.at(-1);
    assert.ok(last?.status === 'rejected' && busy(/no connection was free for 5 s/)(last.reason));
  });

  it('gives up on all who wait when no connection comes back, and serves who comes later', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const line = createConnectionLine({ places: 1, stillMsMax: 2_000 });
    const leave = await line.enter();
    const waiting = [line.enter(), line.enter()].map((turn) =>
      assert.rejects(turn, busy(/no connection was returned for 2 s/)),
    );
    test.mock.timers.tick(2_000);
    await Promise.all(waiting);
    leave();
    (await line.enter())();
  });

  it('is bounded', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const line = createConnectionLine({ places: 1, stillMsMax: 2_000, waitersMax: 1 });
    const leave = await line.enter();
    const next = line.enter();
    await assert.rejects(line.enter(), busy(/too many callers are waiting for a connection \(1\)/));
    leave();
    (await next)();
  });
});
