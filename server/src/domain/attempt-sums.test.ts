import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sumOfAttempts, wasSent } from './attempt-sums.ts';
import type { AttemptUse } from './request-record.ts';

function use(source: AttemptUse['source'], over: Partial<AttemptUse> = {}): { use: AttemptUse } {
  const usage = { inputTokens: 10, outputTokens: 4, cachedInputTokens: 1 };
  return { use: { source, usage, costMicros: 7, ...over } };
}

describe('the sums of a request', () => {
  it('have what each of its attempts used', () => {
    const cached = { inputTokens: 3, outputTokens: 2, cachedInputTokens: 0, cacheWrite5mTokens: 2 };
    assert.deepEqual(
      sumOfAttempts([use('reported', { costRoundingPicos: 5 }), {}, use('reported', { usage: cached })]),
      {
        usageSource: 'reported',
        actualInputTokens: 13,
        actualOutputTokens: 6,
        actualCachedInputTokens: 1,
        actualCacheWrite5mTokens: 2,
        actualCostMicros: 14,
        actualCostRoundingPicos: 5,
      },
    );
  });

  it('name the least certain source, in whichever order the attempts were made', () => {
    const sourceOf = (...sources: AttemptUse['source'][]) =>
      sumOfAttempts(sources.map((source) => use(source))).usageSource;
    assert.equal(sourceOf(), 'none');
    assert.equal(sourceOf('streamed', 'reported'), 'streamed');
    assert.equal(sourceOf('estimated', 'streamed'), 'estimated');
    assert.equal(sourceOf('reported', 'estimated', 'reported'), 'estimated');
  });

  it('have no cost unless an attempt was priced', () => {
    const costOf = (...costs: (number | null)[]) =>
      sumOfAttempts(costs.map((costMicros) => use('reported', { costMicros }))).actualCostMicros;
    assert.equal(costOf(), null);
    assert.equal(costOf(null, null), null);
    assert.equal(costOf(null, 0), 0);
    assert.equal(costOf(3, null), 3);
  });
});

describe('an attempt', () => {
  it('was sent unless it says otherwise, or an earlier version could not prepare it', () => {
    assert.equal(wasSent({ cause: null }), true);
    assert.equal(wasSent({ cause: 'upstream_timeout', sent: false }), false);
    assert.equal(wasSent({ cause: 'upstream_not_prepared' }), false);
  });
});
