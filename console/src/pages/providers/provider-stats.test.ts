import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EndpointStats } from '@relay/contract';
import { statsByProvider } from './provider-stats.ts';

describe('the statistics of a provider', () => {
  it('are the sums over its endpoints, with errors by code, the most frequent first', () => {
    const of = (over: Partial<EndpointStats>) =>
      ({
        provider_id: 'p',
        requests: 0,
        failed: 0,
        rejected: 0,
        errors: [],
        series: [],
        cost_micros: 0,
        ...over,
      }) as unknown as EndpointStats;
    const stats = statsByProvider([
      of({ requests: 3, failed: 1, series: [1, 2], errors: [{ error_code: 'a', requests: 1 }] }),
      of({}),
      of({
        requests: 5,
        failed: 3,
        series: [4, 1],
        cost_micros: 7,
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
      costMicros: 7,
    });
    assert.equal(stats.get('other')?.requests, 1);
  });
});
