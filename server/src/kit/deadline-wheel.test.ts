import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import fc from 'fast-check';
import { type Deadline, DeadlineWheel } from './deadline-wheel.ts';

const TICK_MS = 10;

/** Runs with a clock that moves with the timers, a millisecond at a time. */
function withTime(
  run: (time: { nowMs: number; pass(ms: number): void }, wheel: DeadlineWheel) => void,
): void {
  mock.timers.enable({ apis: ['setTimeout'] });
  const time = {
    nowMs: 7,
    pass(ms: number) {
      for (let step = 0; step < ms; step += 1) {
        time.nowMs += 1;
        mock.timers.tick(1);
      }
    },
  };
  try {
    run(time, new DeadlineWheel({ monotonicMs: () => time.nowMs }));
  } finally {
    mock.timers.reset();
  }
}

function deadline(due: () => void): Deadline {
  return { slot: null, due };
}

describe('a deadline', () => {
  it('is due once, never early and late by at most two ticks, whatever is set, moved and cleared meanwhile', () => {
    const action = fc.record({
      afterMs: fc.nat({ max: 60 }),
      which: fc.nat({ max: 4 }),
      inMs: fc.option(fc.nat({ max: 300 })),
    });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 30 }), (actions) => {
        withTime((time, wheel) => {
          const wanted = new Map<number, number>();
          const all = Array.from({ length: 5 }, (_, index) =>
            deadline(() => {
              const atMs = wanted.get(index);
              assert.ok(atMs !== undefined, 'it is set');
              assert.ok(time.nowMs >= atMs, `due at ${atMs}, called at ${time.nowMs}`);
              assert.ok(time.nowMs <= atMs + 2 * TICK_MS, `due at ${atMs}, called at ${time.nowMs}`);
              wanted.delete(index);
            }),
          );
          for (const { afterMs, which, inMs } of actions) {
            time.pass(afterMs);
            const each = all[which] ?? assert.fail();
            if (inMs === null) {
              wheel.clear(each);
              wanted.delete(which);
            } else {
              wanted.set(which, time.nowMs + inMs);
              wheel.set(each, time.nowMs + inMs);
            }
          }
          time.pass(400);
          assert.equal(wanted.size, 0);
        });
      }),
    );
  });

  it('may set itself again and clear others when it is due', () => {
    withTime((time, wheel) => {
      const called: string[] = [];
      const other = deadline(() => called.push('other'));
      const again = deadline(() => {
        called.push('again');
        wheel.clear(other);
        if (called.length < 3) wheel.set(again, time.nowMs + 100);
      });
      wheel.set(again, 50);
      wheel.set(other, 50);
      time.pass(1_000);
      assert.deepEqual(called, ['again', 'again', 'again']);
    });
  });

  it('leaves no timer behind when it is cleared', () => {
    withTime((time, wheel) => {
      const one = deadline(() => assert.fail('it was cleared'));
      wheel.set(one, 10_000);
      wheel.clear(one);
      time.pass(2 * TICK_MS);
      const timers = mock.method(globalThis, 'setTimeout');
      time.pass(1_000);
      assert.equal(timers.mock.callCount(), 0);
      timers.mock.restore();
    });
  });

  it('is due after a standstill of the process, however long', () => {
    withTime((time, wheel) => {
      let called = 0;
      wheel.set(
        deadline(() => {
          called += 1;
        }),
        100,
      );
      time.nowMs = 3_600_000;
      mock.timers.tick(TICK_MS);
      assert.equal(called, 1);
    });
  });
});
