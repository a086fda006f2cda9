import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createShares } from './shares.ts';

/** Owners whose places are given back by name. */
function crowd(placesMax: number) {
  const shares = createShares(placesMax);
  const held = new Map<string, (() => void)[]>();
  const started: string[] = [];
  return {
    started,
    take(owner: string, count = 1) {
      for (let each = 0; each < count; each += 1)
        shares.take(owner, (giveBack) => {
          started.push(owner);
          held.set(owner, [...(held.get(owner) ?? []), giveBack]);
        });
    },
    giveBack: (owner: string) => held.get(owner)?.shift()?.(),
    count: (owner: string) => held.get(owner)?.length ?? 0,
  };
}

describe('shares', () => {
  it('leave a place to the next owner, however many one asks for', () => {
    const owners = crowd(64);
    owners.take('busy', 500);
    assert.equal(owners.count('busy'), 32);
    owners.take('acme');
    assert.equal(owners.count('acme'), 1);
  });

  it('leave a place beside several that ask for more than there are', () => {
    const owners = crowd(64);
    for (let round = 0; round < 64; round += 1) for (const owner of ['a', 'b', 'c']) owners.take(owner);
    owners.take('acme');
    assert.equal(owners.count('acme'), 1);
  });

  it('give what is given back to those who wait, in turn', () => {
    const owners = crowd(4);
    owners.take('a', 10);
    owners.take('b', 10);
    owners.started.length = 0;
    for (let round = 0; round < 3; round += 1) for (const owner of ['a', 'b']) owners.giveBack(owner);
    const of = (owner: string) => owners.started.filter((each) => each === owner).length;
    assert.deepEqual([of('a') >= 2, of('b') >= 2], [true, true]);
  });

  it('start everything that waits as places are given back, and end with none held', () => {
    const owners = crowd(5);
    for (const owner of ['a', 'b', 'c']) owners.take(owner, 20);
    for (let round = 0; round < 60; round += 1) for (const owner of ['a', 'b', 'c']) owners.giveBack(owner);
    assert.equal(owners.started.length, 60);
    owners.take('d', 3);
    assert.equal(owners.count('d'), 3);
  });

  it('of a single place go to one after the other', () => {
    const owners = crowd(1);
    owners.take('a', 2);
    owners.take('b');
    owners.giveBack('a');
    assert.deepEqual(owners.started.length, 2);
  });

  it('count what takes several places, and start what fits after one that gave up waiting', () => {
    const shares = createShares(10);
    const started: string[] = [];
    const take = (owner: string, name: string, places: number) =>
      shares.take(owner, () => void started.push(name), places);
    take('a', 'four', 4);
    const leave = take('a', 'large', 3);
    take('a', 'one', 1);
    assert.deepEqual(started, ['four']);
    assert.equal(shares.tryTake('a'), null, 'its own requests keep their order');
    leave();
    leave();
    assert.deepEqual(started, ['four', 'one']);
    assert.equal(shares.tryTake('b', 6), null);
    assert.notEqual(shares.tryTake('b', 5), null);
  });

  it('are the whole where they are not divided', () => {
    const shares = createShares(3, false);
    for (let count = 0; count < 3; count += 1) assert.notEqual(shares.tryTake('a'), null);
    assert.equal(shares.tryTake('b'), null);
  });
});
