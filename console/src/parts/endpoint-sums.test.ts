import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EndpointStats } from '@relay/contract';
import { NO_SUMS, sumOfAll, sumsByProvider } from './endpoint-sums.ts';

describe('the sums over endpoints', () => {
  it('are by provider, with errors by code, the most frequent first', () => {
    const of = (over: Partial<EndpointStats>) =>
      ({
        provider_id: 'p',
        ...NO_SUMS,
        ...over,
      }) as unknown as EndpointStats;
    const stats = sumsByProvider([
      of({ requests: 3, failed: 1, series: [1, 2], errors: [{ error_code: 'a', requests: 1 }] }),
      of({}),
      of({
        requests: 5,
        failed: 3,
        series: [4, 1],
        cost_micros: 7,
        metered_requests: 2,
        unpriced_requests: 1,
        errors: [
          { error_code: 'b', requests: 2 },
          { error_code: 'a', requests: 2 },
        ],
      }),
      of({ provider_id: 'other', requests: 1 }),
    ]);
    assert.deepEqual(stats.get('p'), {
      requests: 8,
      failed: 4,
      rejected: 0,
      errors: [
        { error_code: 'a', requests: 3 },
        { error_code: 'b', requests: 2 },
      ],
      series: [5, 3],
      cost_micros: 7,
      metered_requests: 2,
      unpriced_requests: 1,
    });
    assert.equal(stats.get('other')?.requests, 1);
    assert.equal(sumOfAll([...stats.values()])?.requests, 9);
    assert.equal(sumOfAll([...stats.values(), undefined]), undefined);
  });
});
