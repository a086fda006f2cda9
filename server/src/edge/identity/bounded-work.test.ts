import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RelayError } from '../../domain/relay-error.ts';
import { createBoundedWork } from './bounded-work.ts';

describe('bounded work', () => {
  it('runs a bounded number concurrently, queues a bounded number, and refuses the rest with a retry time', async () => {
    const work = createBoundedWork({ atOnceMax: 2, waitingMax: 1 });
    const ends: (() => void)[] = [];
    let running = 0;
    const job = () =>
      work(async () => {
        running += 1;
        await new Promise<void>((resolve) => ends.push(resolve));
        running -= 1;
      });
    const first = job();
    const second = job();
    const third = job();
    await assert.rejects(job(), (error) => {
      assert.ok(error instanceof RelayError);
      assert.equal(error.code, 'too_many_attempts');
      assert.equal(error.detail.headers?.['Retry-After'], '1');
      return true;
    });
    assert.equal(running, 2);
    ends[0]?.();
    await first;
    await new Promise(setImmediate);
    assert.equal(running, 2);
    ends[1]?.();
    ends[2]?.();
    await Promise.all([second, third]);
    assert.equal(running, 0);
  });

  it('gives a place back when the work fails', async () => {
    const work = createBoundedWork({ atOnceMax: 1, waitingMax: 0 });
    await assert.rejects(
      work(() => Promise.reject(new Error('no'))),
      /no/,
    );
    assert.equal(await work(async () => 'yes'), 'yes');
  });
});
