import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createDeadlineQueue } from './deadline-queue.ts';

/** Sockets are read between a timer and what it decides. */
async function tick(ms: number): Promise<void> {
  mock.timers.tick(ms);
  await setImmediate();
}

describe('deadline queue', () => {
  it('expires each piece of work at its own deadline, in order, and what is done never', async () => {
    let nowMs = 0;
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
      const queue = createDeadlineQueue({ clock, timeoutMs: 100 });
      const expired: string[] = [];
      const pass = async (ms: number) => {
        for (let step = 0; step < ms; step += 1) {
          nowMs += 1;
          await tick(1);
        }
      };
      queue.add(() => expired.push(`a at ${nowMs}`));
      await pass(30);
      const b = queue.add(() => expired.push('b'));
      queue.add(() => expired.push(`c at ${nowMs}`));
      await pass(40);
      b.done = true;
      queue.add(() => expired.push(`d at ${nowMs}`));
      await pass(200);
      assert.deepEqual(expired, ['a at 100', 'c at 130', 'd at 170']);
      queue.add(() => expired.push('e'));
      queue.clear();
      await pass(200);
      assert.equal(expired.length, 3);
    } finally {
      mock.timers.reset();
    }
  });

  it('gives what is due after a standstill of the process as much time again, a few times', async () => {
    let nowMs = 0;
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
      const queue = createDeadlineQueue({ clock, timeoutMs: 100 });
      const expired: string[] = [];
      const answered = queue.add(() => expired.push('answered'));
      queue.add(() => expired.push(`silent at ${nowMs}`));
      nowMs = 160;
      await tick(100);
      assert.equal(expired.length, 0);
      answered.done = true;
      nowMs = 220;
      await tick(60);
      assert.deepEqual(expired, ['silent at 220']);
      queue.add(() => expired.push(`busy at ${nowMs}`));
      for (let turn = 0; turn < 5; turn += 1) {
        nowMs += 500;
        await tick(500);
      }
      assert.equal(expired.at(-1), 'busy at 2720');
    } finally {
      mock.timers.reset();
    }
  });

  it('expires nothing whose reply arrives before the sockets are read, however often the process stalls', async () => {
    let nowMs = 0;
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
      const queue = createDeadlineQueue({ clock, timeoutMs: 100 });
      let expired = 0;
      for (let turn = 0; turn < 50; turn += 1) {
        const deadline = queue.add(() => {
          expired += 1;
        });
        nowMs += 300;
        mock.timers.tick(300);
        deadline.done = true;
        await setImmediate();
      }
      assert.equal(expired, 0);
    } finally {
      mock.timers.reset();
    }
  });
});
