import assert from 'node:assert/strict';
import { it, mock } from 'node:test';
import { DeadlineWheel } from '../../kit/deadline-wheel.ts';
import { type DeadlineKind, DeadlineWatch } from './deadlines.ts';

it('an answer that is silent after a pause longer than the idle time ends after the idle time', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 0;
  const pass = (ms: number) => {
    for (let step = 0; step < ms; step += 10) {
      nowMs += 10;
      mock.timers.tick(10);
    }
  };
  try {
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
    const expired: DeadlineKind[] = [];
    const limits = { headers: 1_000, idle: 500, total: 60_000 };
    const watch = new DeadlineWatch({ deadlines: new DeadlineWheel(clock), clock }, limits, (kind) =>
      expired.push(kind),
    );
    watch.headersArrived();
    watch.pause();
    pass(2_000);
    assert.deepEqual(expired, []);
    watch.resume();
    pass(600);
    assert.deepEqual(expired, ['idle']);
    watch.stop();
  } finally {
    mock.timers.reset();
  }
});
