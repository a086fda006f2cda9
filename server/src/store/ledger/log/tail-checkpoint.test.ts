import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  advance,
  type Checkpoint,
  checkpointAfter,
  checkpointAt,
  comparePositions,
  foreignBelowXid,
} from './tail-checkpoint.ts';

const T = 1_800_000_000_000;
const STAMPED_BEFORE_MS = 30_000;

describe('a checkpoint of the tail', () => {
  it('looks no further back than to the last moment at which nothing that is still to come had begun', () => {
    let at = checkpointAt({ atMs: T, endedBelowXid: 100, nextXid: 100 });
    at = advance(at, { atMs: T + 1_000, endedBelowXid: 110, nextXid: 110 }, null);
    assert.equal(at.sinceMs, T + 1_000 - STAMPED_BEFORE_MS);
    // Transaction 115 is open: it may have been stamped as early as the moment before it.
    at = advance(at, { atMs: T + 2_000, endedBelowXid: 115, nextXid: 120 }, null);
    at = advance(at, { atMs: T + 3_000, endedBelowXid: 115, nextXid: 130 }, null);
    assert.equal(at.told.xid, 115);
    assert.equal(at.sinceMs, T + 1_000 - STAMPED_BEFORE_MS);
    at = advance(at, { atMs: T + 4_000, endedBelowXid: 140, nextXid: 140 }, null);
    assert.equal(at.sinceMs, T + 4_000 - STAMPED_BEFORE_MS);
  });

  it('continues after the last row when there may be more', () => {
    const before = checkpointAt({ atMs: T, endedBelowXid: 100, nextXid: 100 });
    const last = { xid: 105, requestId: 'b', settledAtMs: T + 500 };
    const at = advance(before, { atMs: T + 1_000, endedBelowXid: 110, nextXid: 110 }, last);
    assert.deepEqual(at.told, { xid: 105, requestId: 'b' });
    assert.equal(at.sinceMs, T + 500 - STAMPED_BEFORE_MS);
  });

  it('after a request looks back from when that was settled', () => {
    const at = checkpointAfter({ xid: 7, requestId: 'a' }, T);
    assert.deepEqual(at, { told: { xid: 7, requestId: 'a' }, sinceMs: T - STAMPED_BEFORE_MS, moments: [] });
    assert.equal(foreignBelowXid(at), 0);
  });

  it('ignores a transaction that has been open for a minute, and remembers no longer than that', () => {
    let at: Checkpoint = checkpointAt({ atMs: T, endedBelowXid: 100, nextXid: 105 });
    for (let second = 1; second < 600; second += 1) {
      const moment = { atMs: T + second * 1_000, endedBelowXid: 100, nextXid: 105 + second };
      at = advance(at, moment, null);
      assert.equal(foreignBelowXid(at), second < 60 ? 0 : 105 + second - 60);
      assert.ok(at.moments.length <= 121);
    }
  });

  it('is in the order of transactions, and of ids within one', () => {
    const positions = [
      { xid: 2, requestId: 'a' },
      { xid: 1, requestId: 'b' },
      { xid: 1, requestId: 'a' },
    ];
    const sorted = positions.toSorted(comparePositions).map(({ xid, requestId }) => `${xid}${requestId}`);
    assert.deepEqual(sorted, ['1a', '1b', '2a']);
    assert.equal(comparePositions({ xid: 1, requestId: 'a' }, { xid: 1, requestId: 'a' }), 0);
  });
});
