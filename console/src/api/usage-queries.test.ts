import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Timeseries } from '@relay/contract';
import { keyDayOf } from './usage-queries.ts';

type Series = Timeseries['series'][number];

function series(kind: Series['kind'], key: string | null, total: number | null): Series {
  return { kind, key, label: key ?? kind, total, points: [] };
}

describe('the figures of the last 24 hours', () => {
  it('of one key count requests, failures and waits, and a spend without any price is none', () => {
    const services = [
      series('group', 'immediate', 5),
      series('group', 'waited', 2),
      series('group', 'failed', 1),
    ];
    const day = { requests: 8, failed: 1, waited: 2, waitMsP95: 300 };
    const waits = [series('all', null, 300)];
    assert.deepEqual(keyDayOf(services, [series('all', null, 70)], waits), { ...day, costMicros: 70 });
    assert.deepEqual(keyDayOf(services, [series('all', null, null)], waits), { ...day, costMicros: null });
    const none = { requests: 0, failed: 0, waited: 0, waitMsP95: null, costMicros: 0 };
    assert.deepEqual(keyDayOf([], [], []), none);
  });
});
