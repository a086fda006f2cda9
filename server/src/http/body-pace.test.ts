import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createBodyPace } from './body-pace.ts';

const MIB = 1024 * 1024;

describe('the pace of large bodies', () => {
  function site() {
    let nowMs = 50_000;
    const pace = createBodyPace({ monotonicMs: () => nowMs });
    return { pace, pass: (ms: number) => (nowMs += ms) };
  }

  it('does not slow down a body of the largest size, nor one a second', () => {
    const { pace, pass } = site();
    for (let count = 0; count < 5; count += 1) {
      assert.equal(pace.pauseMs('acme', 20 * MIB), 0);
      pass(1_000);
    }
  });

  it('slows an organization down to its speed, and no other', () => {
    const { pace, pass } = site();
    let sentBytes = 0;
    let tookMs = 0;
    while (sentBytes < 320 * MIB) {
      const pauseMs = pace.pauseMs('acme', MIB);
      sentBytes += MIB;
      tookMs += pauseMs;
      pass(pauseMs);
      assert.equal(pace.pauseMs('globex', 1_000), 0);
    }
    // 32 MiB/s, after a second's worth of it.
    assert.ok(Math.abs(tookMs - 9_000) < 100, String(tookMs));
  });

  it('forgets organizations that have sent nothing for a while', () => {
    const { pace, pass } = site();
    for (let count = 0; count < 2_000; count += 1) {
      assert.equal(pace.pauseMs(`organization ${count}`, 20 * MIB), 0);
      pass(10);
    }
    assert.ok(pace.pauseMs('organization 1999', 20 * MIB) > 0);
  });
});
