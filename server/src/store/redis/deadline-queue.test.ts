import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { createDeadlineQueue } from './deadline-queue.ts';

describe('deadline queue', () => {
  it('expires each piece of work at its own deadline, in order, and what is done never', () => {
    let nowMs = 0;
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
      const queue = createDeadlineQueue({ clock, timeoutMs: 100 });
      const expired: string[] = [];
      const pass = (ms: number) => {
        for (let step = 0; step < ms; step += 1) {
          nowMs += 1;
          mock.timers.tick(1);
        }
      };
      queue.add(() => expired.push(`a at ${nowMs}`));
      pass(30);
      const b = queue.add(() => expired.push('b'));
      queue.add(() => expired.push(`c at ${nowMs}`));
      pass(40);
      b.done = true;
      queue.add(() => expired.push(`d at ${nowMs}`));
      pass(200);
      assert.deepEqual(expired, ['a at 100', 'c at 130', 'd at 170']);
      queue.add(() => expired.push('e'));
      queue.clear();
      pass(200);
      assert.equal(expired.length, 3);
    } finally {
      mock.timers.reset();
    }
  });

  it('gives what is due after a standstill of the process as much time again, a few times', () => {
    let nowMs = 0;
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
      const queue = createDeadlineQueue({ clock, timeoutMs: 100 });
      const expired: string[] = [];
      const answered = queue.add(() => expired.push('answered'));
      queue.add(() => expired.push(`silent at ${nowMs}`));
      nowMs = 160;
      mock.timers.tick(100);
      assert.equal(expired.length, 0);
      answered.done = true;
      nowMs = 220;
      mock.timers.tick(60);
      assert.deepEqual(expired, ['silent at 220']);
      queue.add(() => expired.push(`busy at ${nowMs}`));
      for (let turn = 0; turn < 5; turn += 1) {
        nowMs += 500;
        mock.timers.tick(500);
      }
      assert.equal(expired.at(-1), 'busy at 2720');
    } finally {
      mock.timers.reset();
    }
  });
});
