import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runRounds } from './rounds.ts';
import { median, spread } from './statistics.ts';

describe('rounds', () => {
  it('measures every contestant once a round, in orders that change', async () => {
    const order: string[] = [];
    const rounds = await runRounds(['a', 'b', 'c'], 40, async (name) => {
      order.push(name);
      return `${name}!`;
    });
    assert.equal(rounds.length, 40);
    for (const round of rounds) assert.deepEqual(round, { a: 'a!', b: 'b!', c: 'c!' });
    const orders = new Set(rounds.map((_, index) => order.slice(index * 3, index * 3 + 3).join('')));
    assert.ok(orders.size > 1, [...orders].join());
  });
});

describe('statistics', () => {
  it('takes the middle of odd and even counts', () => {
    assert.equal(median([3, 1, 2]), 2);
    assert.equal(median([4, 1, 2, 3]), 2.5);
    assert.throws(() => median([]));
  });
  it('rounds the spread', () => assert.deepEqual(spread([1.26, 1, 9], 1), { min: 1, median: 1.3, max: 9 }));
});
