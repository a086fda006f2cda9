import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { createFollowingClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { type TimeSource, watchClocks } from './watch-clocks.ts';

const TRUE_MS = Date.parse('2026-06-30T12:00:00.000Z');

/** A machine that is ahead of the stores by so much, and its watch. Time passes only by `pass`. */
async function watched(aheadMs: number) {
  const lines: string[] = [];
  const state = { aheadMs, redisAheadMs: 0, passedMs: 0, isDown: false };
  const trueMs = () => TRUE_MS + state.passedMs;
  const own = { nowMs: () => trueMs() + state.aheadMs, monotonicMs: () => 500 + state.passedMs };
  const clock = createFollowingClock(own);
  const read = async (ms: number) => {
    if (state.isDown) throw new Error('it is down');
    return [ms];
  };
  const sources: TimeSource[] = [
    { name: 'postgresql', isFollowed: true, read: () => read(trueMs()) },
    { name: 'redis', isFollowed: false, read: () => read(trueMs() + state.redisAheadMs) },
  ];
  mock.timers.enable({ apis: ['setInterval'] });
  const log = createLog('info', { write: (line) => void lines.push(line) });
  const watch = await watchClocks({ clock, log }, sources, own);
  return {
    state,
    clock,
    trueMs,
    watch,
    lines,
    async pass(ms: number): Promise<void> {
      for (let passed = 0; passed < ms; passed += 5_000) {
        state.passedMs += 5_000;
        mock.timers.tick(5_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    [Symbol.dispose]() {
      watch.stop();
      mock.timers.reset();
    },
  };
}

describe('the watch over clocks', () => {
  it('a machine that agrees is in order, and the log says nothing', async () => {
    using machine = await watched(1_900);
    assert.deepEqual(machine.watch.health(), {
      status: 'ok',
      ahead_ms: { postgresql: 1_900, redis: 1_900 },
    });
    assert.deepEqual(machine.lines, []);
  });

  it('more than 2 s off is warned of, and still in order', async () => {
    using machine = await watched(-5_000);
    const { status, detail } = machine.watch.health();
    assert.deepEqual([status, detail], ['ok', 'Relay’s clock is 5 s behind postgresql’s.']);
    assert.match(machine.lines.join(''), /"level":"warn".*5 s behind/);
  });

  it('more than 30 s off is not ready until it is corrected, and keeps PostgreSQL’s time', async () => {
    using machine = await watched(3 * 86_400_000);
    assert.equal(machine.watch.health().status, 'unavailable');
    assert.equal(machine.clock.nowMs(), machine.trueMs());
    machine.state.aheadMs = 0;
    await machine.pass(5_000);
    assert.equal(machine.watch.health().status, 'ok');
    assert.equal(machine.watch.health().detail, undefined);
    assert.match(machine.lines.at(-1) ?? '', /agrees with the stores again/);
  });

  it('a Redis that is far off makes a process not ready as well, and does not change its time', async () => {
    using machine = await watched(0);
    machine.state.redisAheadMs = 600_000;
    await machine.pass(60_000);
    assert.equal(machine.watch.health().status, 'unavailable');
    assert.match(machine.watch.health().detail ?? '', /10 min behind redis/);
    assert.equal(machine.clock.nowMs(), machine.trueMs());
  });

  it('a store that is down changes nothing of what is known, and is asked again soon', async () => {
    using machine = await watched(40_000);
    machine.state.isDown = true;
    await machine.pass(70_000);
    assert.equal(machine.watch.health().status, 'unavailable');
    assert.equal(machine.clock.nowMs(), machine.trueMs());
    machine.state.isDown = false;
    machine.state.aheadMs = 0;
    await machine.pass(5_000);
    assert.equal(machine.watch.health().status, 'ok');
  });
});
