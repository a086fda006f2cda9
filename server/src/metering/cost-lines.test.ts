import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { sumOfAttempts } from '../domain/attempt-sums.ts';
import { usageDetails, useAt } from '../domain/metered-usage.ts';
import { picosOf } from '../domain/money/money.ts';
import { count, prices, usages, variants } from '../domain/money/pricing.fixture.ts';
import type { Usage } from '../domain/money/usage.ts';
import type { Pricing } from '../domain/snapshot.ts';
import { costLinesOf } from '../store/ledger/log/cost-lines.ts';
import { ledgerRow } from './ledger-row.ts';
import { sampleRecord } from './request-records.fixture.ts';

/** Every settlement records them, and with them the parts of its usage. */
const TIMINGS = {
  receiveMs: 1,
  routeMs: 1,
  guardMs: null,
  admitMs: 1,
  waitMs: 0,
  upstreamFirstByteMs: 5,
  firstContentMs: 5,
  totalMs: 10,
};

/** The ledger row of a request that settled with this usage. */
function settled(pricing: Pricing, usage: Usage) {
  const use = useAt(pricing, usage, 'reported');
  const metered = { ...sumOfAttempts([{ use }]), ...usageDetails(usage) };
  return ledgerRow(sampleRecord({ ...metered, timings: TIMINGS }), 0);
}

describe('the lines of a recorded cost', () => {
  it('add up to what the settlement computed, for any prices and any usage', () => {
    fc.assert(
      fc.property(prices, variants, usages, (set, more, usage) => {
        const pricing = { ...set, variants: more };
        const row = settled(pricing, usage);
        const lines = costLinesOf(row, pricing, false);
        assert.ok(lines !== null);
        const micros = row.actual_cost_micros ?? -1;
        assert.equal(
          lines.reduce((sum, { picos }) => sum + picos, 0n),
          picosOf({ micros, roundingPicos: row.actual_cost_rounding_picos }),
        );
      }),
    );
  });

  it('are unknown once the price is another one', () => {
    fc.assert(
      fc.property(prices, usages, count, (set, usage, more) => {
        const changed = { ...set, flatRequestCostMicros: set.flatRequestCostMicros + 1 + more };
        assert.equal(costLinesOf(settled(set, usage), changed, false), null);
      }),
    );
  });

  it('are none of a free request, and unknown without a cost or without usage', () => {
    const set = fc.sample(prices, 1)[0] as Pricing;
    const free = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, free: true } as const;
    const row = settled(set, free);
    assert.deepEqual(costLinesOf(row, set, true), []);
    assert.equal(costLinesOf({ ...row, actual_cost_micros: null }, set, true), null);
    assert.equal(costLinesOf({ ...row, actual_input_tokens: null }, set, true), null);
  });
});
