import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { createLog } from './log.ts';
import { createRepeatedLines } from './repeated-lines.ts';

const HOUR_MS = 3_600_000;

describe('a fault that repeats with every request', () => {
  it('is written at once, never twice a second, and 70 times in an hour at most, with how often it was', () => {
    let nowMs = 0;
    const repeated = createRepeatedLines({ monotonicMs: () => nowMs });
    const written: { atMs: number; before: number }[] = [];
    let count = 0;
    for (; nowMs < HOUR_MS; nowMs += 40) {
      count += 1;
      const before = repeated('attempt failed', { request_id: String(nowMs), endpoint: 'one', ms: nowMs });
      if (before !== null) written.push({ atMs: nowMs, before });
    }
    assert.equal(written[0]?.atMs, 0);
    assert.ok(written.length < 70, `${written.length} lines`);
    for (const [index, { atMs }] of written.entries())
      assert.ok(atMs - (written[index - 1]?.atMs ?? -HOUR_MS) >= 1_000);
    const told = written.reduce((sum, { before }) => sum + before + 1, 0);
    assert.ok(count - told < 25 * 60, 'those left out are counted within a minute');
  });

  it('hides no fault of another kind, and none after a quiet minute', () => {
    let nowMs = 0;
    const repeated = createRepeatedLines({ monotonicMs: () => nowMs });
    assert.equal(repeated('attempt failed', { endpoint: 'one' }), 0);
    assert.equal(repeated('attempt failed', { endpoint: 'two' }), 0);
    assert.equal(repeated('attempt failed', { endpoint: 'one' }), null);
    nowMs = 62_000;
    assert.equal(repeated('attempt failed', { endpoint: 'one' }), 1);
    nowMs += 1_000;
    assert.equal(repeated('attempt failed', { endpoint: 'one' }), 0, 'the pause begins anew');
  });
});

describe('an error in the log', () => {
  function logged(error: unknown): { err: { message: string; stack?: string } } {
    let text = '';
    const destination = new Writable({
      write(chunk, _encoding, done) {
        text += String(chunk);
        done();
      },
    });
    createLog('info', destination).error({ err: error }, 'failed');
    return JSON.parse(text);
  }

  it('has a stack only where the fault is Relay’s own', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const wrapped = Object.assign(new Error('PostgreSQL', { cause: refused }), { code: 'store_unavailable' });
    const crowded = Object.assign(new Error('sorry, too many clients already'), { code: '53300' });
    for (const error of [refused, wrapped, crowded]) assert.equal(logged(error).err.stack, undefined);
    assert.match(logged(wrapped).err.message, /PostgreSQL: connect ECONNREFUSED/);
    const syntax = Object.assign(new Error('syntax error'), { code: '42601' });
    const defect = Object.assign(new Error('defect'), { code: 'internal_error' });
    for (const error of [new TypeError('x is undefined'), syntax, defect])
      assert.match(logged(error).err.stack ?? '', /repeated-lines\.test/);
  });
});
