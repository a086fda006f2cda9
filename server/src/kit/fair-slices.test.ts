import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFairSlices } from './fair-slices.ts';
import type { Steps } from './slices.ts';

/** A clock on which each step takes a millisecond, so that a slice of one is one step. */
function steppingClock(): { monotonicMs: () => number; step(): void } {
  let nowMs = 0;
  return {
    monotonicMs: () => nowMs,
    step() {
      nowMs += 1;
    },
  };
}

describe('fair slices', () => {
  const clock = steppingClock();
  const done: string[] = [];
  function* work(name: string, steps: number): Steps<string> {
    for (let count = 0; count < steps; count += 1) {
      clock.step();
      yield;
    }
    done.push(name);
    return name;
  }

  it('runs what fits one slice now', () => {
    const slices = createFairSlices(clock, 10);
    assert.equal(slices.run('acme', work('short', 5)), 'short');
  });

  it('gives owners turns, so that one with much work does not delay another', async () => {
    done.length = 0;
    const slices = createFairSlices(clock, 1);
    const long = Array.from({ length: 20 }, (_, index) => slices.run('busy', work(`long ${index}`, 50)));
    assert.equal(await slices.run('acme', work('short', 5)), 'short');
    assert.deepEqual(done, ['short']);
    await Promise.all(long);
    assert.equal(done.length, 21);
  });

  it('runs one slice in a turn of the event loop', async () => {
    const slices = createFairSlices(clock, 1);
    const startMs = clock.monotonicMs();
    const all = Promise.all(
      Array.from({ length: 30 }, (_, index) => slices.run(`owner ${index}`, work('each', 3))),
    );
    // The first one ran a slice before others waited.
    assert.equal(clock.monotonicMs() - startMs, 1);
    for (let turns = 1; turns <= 20; turns += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      assert.ok(clock.monotonicMs() - startMs <= turns + 1);
    }
    await all;
  });

  it('rejects with what the work throws, and goes on with the next', async () => {
    const slices = createFairSlices(clock, 1);
    function* failing(): Steps<string> {
      clock.step();
      yield;
      throw new RangeError('broken');
    }
    const [failed, next] = [slices.run('acme', failing()), slices.run('acme', work('next', 2))];
    await assert.rejects(Promise.resolve(failed), RangeError);
    assert.equal(await next, 'next');
  });
});
