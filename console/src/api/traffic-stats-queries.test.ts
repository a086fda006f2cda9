import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LaneStats, LaneStatsPage } from '@relay/contract';
import { dayIn, laneDayOf, spendOf } from './traffic-stats-queries.ts';

const sums = {
  requests: 4,
  served: 3,
  failed: 1,
  cancelled: 0,
  rejected: 0,
  fallbacks: 2,
  cost_micros: 70,
  cost_usd: '0.00007',
  fallback_cost_micros: 20,
  fallback_cost_usd: '0.00002',
  metered_requests: 4,
  unpriced_requests: 0,
};
const row = (id: string | null, over: Partial<LaneStats> = {}): LaneStats => ({
  lane_id: id,
  lane_name: null,
  ...sums,
  series: [1, 3],
  wait_ms_p95: 300,
  ...over,
});
const page = (lanes: LaneStats[], other: LaneStatsPage['other'] = null) =>
  laneDayOf({ bucket: 'hour', from: '', to: '', counted: 'organization', lanes, other });

describe('the last 24 hours of all lanes', () => {
  it('are those of each row, and of requests without a lane', () => {
    const day = page([row('a'), row(null, { requests: 9 })]);
    assert.deepEqual(dayIn(day, 'a'), {
      requests: { total: 4, hours: [1, 3] },
      failed: 1,
      spend: { total: 70, hours: [] },
      unpriced: 0,
      waitMsP95: 300,
      fallbackRate: 0.5,
      fallbackMicros: 20,
    });
    assert.equal(dayIn(day, '')?.requests.total, 9);
    assert.deepEqual([day.requests, day.costMicros], [13, 140]);
  });

  it('are nothing for a row without requests, and unknown while loading and for a row that is only summed', () => {
    assert.equal(dayIn(page([row('a')]), 'b')?.requests.total, 0);
    assert.equal(dayIn(page([row('a')]), 'b')?.spend.total, 0);
    assert.equal(dayIn(undefined, 'a'), undefined);
    const cut = page([row('a')], { lanes: 2, ...sums });
    assert.equal(dayIn(cut, 'b'), undefined);
    assert.equal(cut.requests, 8);
  });

  it('leave the spend unknown only where a price is missing', () => {
    const spentWith = (over: Partial<LaneStats>) => dayIn(page([row('a', over)]), 'a')?.spend.total;
    assert.equal(spentWith({ cost_micros: null, unpriced_requests: 4 }), null);
    assert.equal(spentWith({ cost_micros: 0 }), 0);
    assert.equal(spentWith({ cost_micros: 5, unpriced_requests: 1 }), 5);
  });

  it('add up to the spend that is known, and count the requests that it leaves out', () => {
    const sumWith = (...all: Partial<LaneStats>[]) => {
      const day = page(all.map((over, index) => row(String(index), over)));
      return spendOf(all.map((_, index) => dayIn(day, String(index))));
    };
    const unpriced = { cost_micros: null, unpriced_requests: 169 };
    assert.deepEqual(sumWith({}, unpriced), { micros: 70, unpriced: 169 });
    assert.deepEqual(sumWith({}, { unpriced_requests: 1 }), { micros: 140, unpriced: 1 });
    assert.deepEqual(sumWith(unpriced), { micros: null, unpriced: 169 });
    assert.deepEqual(sumWith(unpriced, { cost_micros: 0, requests: 0 }), { micros: null, unpriced: 169 });
    assert.deepEqual(sumWith({ cost_micros: 0 }), { micros: 0, unpriced: 0 });
    assert.equal(spendOf([undefined, dayIn(page([row('a')]), 'a')]), null);
  });
});
