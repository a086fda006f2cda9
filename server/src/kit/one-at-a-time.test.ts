import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOneAtATime } from './one-at-a-time.ts';

describe('one at a time', () => {
  it('runs an owner’s work one after the other, and another owner’s beside it', async () => {
    const inTurn = createOneAtATime();
    const running = new Map<string, number>();
    let mostOfOne = 0;
    let mostOfAll = 0;
    const work = (owner: string) => async () => {
      running.set(owner, (running.get(owner) ?? 0) + 1);
      mostOfOne = Math.max(mostOfOne, ...running.values());
      mostOfAll = Math.max(
        mostOfAll,
        [...running.values()].reduce((sum, each) => sum + each, 0),
      );
      await new Promise((resolve) => setImmediate(resolve));
      running.set(owner, (running.get(owner) ?? 0) - 1);
      return owner;
    };
    const owners = ['a', 'b', 'a', 'a', 'b'];
    assert.deepEqual(await Promise.all(owners.map((owner) => inTurn(owner, work(owner)))), owners);
    assert.deepEqual([mostOfOne, mostOfAll], [1, 2]);
  });

  it('goes on after work that failed', async () => {
    const inTurn = createOneAtATime();
    const failed = inTurn('a', () => Promise.reject(new RangeError('broken')));
    const next = inTurn('a', () => Promise.resolve('next'));
    await assert.rejects(failed, RangeError);
    assert.equal(await next, 'next');
  });
});
