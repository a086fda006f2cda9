import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFollowingClock } from './clock.ts';

const DAY_MS = 86_400_000;
const TRUE_MS = Date.parse('2026-06-30T12:00:00.000Z');

function machine(aheadMs: number) {
  const state = { aheadMs, passedMs: 0 };
  const own = {
    nowMs: () => TRUE_MS + state.passedMs + state.aheadMs,
    monotonicMs: () => 1_000.25 + state.passedMs,
  };
  return { state, own, clock: createFollowingClock(own) };
}

describe('the following clock', () => {
  it('is the machine’s own before anything was told, and while it agrees', () => {
    const { own, clock } = machine(1_500);
    assert.equal(clock.nowMs(), TRUE_MS + 1_500);
    clock.follow(TRUE_MS, own.monotonicMs());
    assert.equal(clock.nowMs(), TRUE_MS + 1_500);
  });

  for (const days of [3, -3, 500])
    it(`keeps the time that it was told on a machine that is ${days} days off`, () => {
      const { state, own, clock } = machine(days * DAY_MS);
      clock.follow(TRUE_MS, own.monotonicMs());
      assert.equal(clock.nowMs(), TRUE_MS);
      state.passedMs = 90_000;
      assert.equal(clock.nowMs(), TRUE_MS + 90_000);
    });

  it('keeps the time while the machine’s clock is set, and is the machine’s again when it is right', () => {
    const { state, own, clock } = machine(0);
    clock.follow(TRUE_MS, own.monotonicMs());
    state.passedMs = 5_000;
    state.aheadMs = -DAY_MS;
    assert.equal(clock.nowMs(), TRUE_MS + 5_000);
    state.aheadMs = 30;
    assert.equal(clock.nowMs(), TRUE_MS + 5_030);
  });
});
