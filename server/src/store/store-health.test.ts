import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createStoreHealth, reasonOf } from './store-health.ts';

describe('what a process knows of a store', () => {
  it('names what fails and why, logs each reason once, and the end once', () => {
    let nowMs = 0;
    const lines: string[] = [];
    const log = {
      warn: (fields: object, message: string) => void lines.push(`${message}: ${JSON.stringify(fields)}`),
      info: (_fields: object, message: string) => void lines.push(message),
      error: (fields: object, message: string) => void lines.push(`${message}: ${JSON.stringify(fields)}`),
    };
    const clock = { monotonicMs: () => nowMs };
    const health = createStoreHealth({ name: 'Redis', clock, log, holdMs: 5_000 });
    assert.equal(health.fault(), null);
    for (let count = 0; count < 100; count += 1) health.failed('write', new Error('OOM command not allowed'));
    assert.deepEqual(health.fault(), { operation: 'write', reason: 'OOM command not allowed' });
    health.works('write');
    assert.notEqual(health.fault(), null, 'a call has just failed, whatever a probe says');
    nowMs = 5_000;
    health.works('write');
    assert.equal(health.fault(), null);
    assert.deepEqual(lines, [
      'Redis rejects writes: {"reason":"OOM command not allowed"}',
      'Redis accepts reads and writes again',
    ]);
  });

  it('is told in the words of the store, without the text of a script and without a password', () => {
    const store = new Error('OOM command not allowed. script: 5a6db8, on @user_script:1.');
    assert.equal(reasonOf(new Error('Redis is unavailable', { cause: store })), 'OOM command not allowed.');
    assert.equal(
      reasonOf(new Error('cannot reach redis://:secret@host:6379')),
      'cannot reach redis://host:6379',
    );
  });
});
