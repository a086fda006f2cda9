import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WhatIfFigures } from '@relay/contract';
import { summaryOf } from './compare.ts';

const WEEK_MS = 7 * 86_400_000;
const NOTHING: WhatIfFigures = {
  served: 0,
  rejected: 0,
  rejections: [],
  waited: 0,
  wait_ms: 0,
  wait_ms_p50: 0,
  wait_ms_p95: 0,
  wait_ms_rejected: 0,
  fallbacks: 0,
  cost_micros: 0,
  cost_usd: '0',
  unpriced_requests: 0,
};

describe('the summary of a what-if', () => {
  it('names every difference, per week and month', () => {
    const before = { ...NOTHING, rejected: 400, cost_micros: 1_000_000 };
    const after = { ...NOTHING, rejected: 13, wait_ms_p95: 1_700, cost_micros: 9_866_667 };
    assert.equal(
      summaryOf(before, after, WEEK_MS),
      '387 fewer rejections per week, p95 wait +1.7 s, +$38.00 a month',
    );
  });

  it('projects what it has of a part of a week, from a day on', () => {
    const after = { ...NOTHING, rejected: 10, fallbacks: 1 };
    assert.equal(
      summaryOf(NOTHING, after, WEEK_MS / 2),
      '20 more rejections per week, 2 more fallbacks per week',
    );
    assert.equal(
      summaryOf(NOTHING, after, 3_600_000),
      '10 more rejections, 1 more fallback, in 1 h of requests',
    );
  });

  it('takes requests without a price for no saving', () => {
    const before = { ...NOTHING, cost_micros: 9_000_000 };
    assert.equal(
      summaryOf(before, { ...NOTHING, unpriced_requests: 1_200 }, WEEK_MS),
      'unknown spend: 1,200 requests at endpoints without a price',
    );
    assert.equal(
      summaryOf({ ...before, unpriced_requests: 5 }, { ...NOTHING, unpriced_requests: 5 }, WEEK_MS),
      '-$38.57 a month',
    );
  });

  it('has two digits of an amount below a dollar', () => {
    const after = { ...NOTHING, cost_micros: 4_935 };
    assert.equal(summaryOf(NOTHING, after, WEEK_MS), '+$0.021 a month');
    assert.equal(summaryOf(NOTHING, { ...NOTHING, cost_micros: 1 }, WEEK_MS), '+$0.000004 a month');
  });

  it('says so when nothing differs', () => {
    assert.match(summaryOf(NOTHING, NOTHING, WEEK_MS), /^No difference/);
  });
});
