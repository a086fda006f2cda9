import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pastDispatches } from './fill-windows.ts';

describe('the past of an organization', () => {
  it('leaves no bucket of a window empty at either candidate', () => {
    for (const [spanMs, bucketMs] of [
      [60_000, 500],
      [1_000, 50],
    ] as const) {
      for (const candidate of [0, 1]) {
        const past = pastDispatches(Number.POSITIVE_INFINITY);
        const own = past.filter((each) => each.candidate === candidate && each.agoMs < spanMs);
        const buckets = new Set(own.map(({ agoMs }) => Math.floor(agoMs / bucketMs)));
        assert.equal(buckets.size, spanMs / bucketMs);
      }
    }
  });

  it('goes on where the last slice ended, in order of time, because windows append', () => {
    const times = pastDispatches(5_000).map(({ agoMs }) => agoMs);
    assert.equal(times[0], 5_000);
    assert.deepEqual(
      times,
      [...times].sort((a, b) => b - a),
    );
    assert.deepEqual(pastDispatches(0), []);
  });
});
