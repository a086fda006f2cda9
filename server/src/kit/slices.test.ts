import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { finish, inSlices, type Steps, stepsOver } from './slices.ts';

/** Each step takes a millisecond of the given clock. */
function* work(clock: { ms: number }, steps: number): Steps<string> {
  for (let step = 0; step < steps; step += 1) {
    clock.ms += 1;
    yield;
  }
  return 'done';
}

describe('work in slices', () => {
  it('ends with its result, in slices or at once', async () => {
    const clock = { ms: 0, monotonicMs: () => clock.ms };
    assert.equal(finish(work(clock, 1_000)), 'done');
    assert.equal(await inSlices(work(clock, 1_000), clock, 5), 'done');
  });

  it('lets the event loop turn between two slices', async () => {
    const clock = { ms: 0, monotonicMs: () => clock.ms };
    const seenMs: number[] = [];
    let isOver = false;
    const look = () => {
      seenMs.push(clock.ms);
      if (!isOver) setImmediate(look);
    };
    setImmediate(look);
    await inSlices(work(clock, 100), clock, 20);
    isOver = true;
    assert.deepEqual(seenMs.slice(0, 5), [20, 40, 60, 80, 100]);
  });

  it('does not wait when it fits one slice', async () => {
    const clock = { ms: 0, monotonicMs: () => clock.ms };
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    await inSlices(work(clock, 100), clock, 1_000);
    assert.equal(turned, false);
  });

  it('takes every item once and in order, many in each step', () => {
    const taken: number[] = [];
    const steps = stepsOver(Array.from({ length: 1_000 }).keys(), (item) => taken.push(item));
    let count = 0;
    for (const _ of steps) count += 1;
    assert.deepEqual(taken, [...Array.from({ length: 1_000 }).keys()]);
    assert.ok(count > 10 && count < 100);
  });

  it('fails with the error of a step', async () => {
    const clock = { ms: 0, monotonicMs: () => clock.ms };
    function* broken(): Steps<void> {
      yield;
      throw new Error('broken');
    }
    await assert.rejects(inSlices(broken(), clock, 5), /broken/);
    assert.throws(() => finish(broken()), /broken/);
  });
});
