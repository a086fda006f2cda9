import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ledgerFindings } from './check-metering.ts';

const WELL = { workers: 1, waiting_entries: 3, lag_ms: 800, spooled_entries: 0 };

describe('findings on the ledger', () => {
  it('are none while a worker keeps up', () => {
    assert.deepEqual(ledgerFindings(WELL), []);
  });

  it('say that no worker is running, and for how long usage waits', () => {
    const [found] = ledgerFindings({ ...WELL, workers: 0, lag_ms: 90_000 });
    assert.equal(found?.status, 'fail');
    assert.match(found?.message ?? '', /^No worker is running: usage waits, the oldest for 1 min 30 s/);
  });

  it('say that nothing is known, instead of that all is well', () => {
    for (const unknown of [{ workers: null }, { lag_ms: null }, { waiting_entries: null }]) {
      const [found] = ledgerFindings({ ...WELL, ...unknown });
      assert.equal(found?.status, 'note');
      assert.match(found?.message ?? '', /not known whether usage reaches the ledger/);
    }
  });

  it('say that workers are behind, and that usage is on a disk', () => {
    const found = ledgerFindings({ ...WELL, lag_ms: 61_000, spooled_entries: 2 });
    assert.deepEqual(
      found.map(({ status }) => status),
      ['warn', 'warn'],
    );
  });
});
