import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BoundPolicy } from '../domain/request-record.ts';
import { countResults } from './request-results.ts';

const LIMIT: BoundPolicy = {
  id: 'the-limit',
  kind: 'resource',
  scopeType: 'lane',
  scopeId: null,
  metric: 'requests',
  period: 'minute',
  resetsAtMs: null,
};
const RATE = 'rate_limit_wait_budget_exceeded';

function resultsOf(cause: string | null, boundPolicy: BoundPolicy | null = null): string {
  const results = countResults();
  results.ended({ state: 'failed', cause, boundPolicy, laneId: 'lane' });
  const [, ...others] = results.byCause();
  return others.map(([labels]) => `${labels['result']} ${labels['cause']}`).join();
}

describe('the result of a request', () => {
  it('is `failed` for what the provider, the configuration or Relay did', () => {
    for (const cause of ['upstream_unreachable', 'internal_error', 'no_route', 'upstream_error_frame'])
      assert.equal(resultsOf(cause), `failed ${cause}`);
  });

  it('is `client` for the client’s own mistake, and for a limit of its own', () => {
    for (const cause of [
      'invalid_json',
      'model_not_found',
      'content_policy_violation',
      'request_exceeds_limit',
    ])
      assert.equal(resultsOf(cause, LIMIT), `client ${cause}`);
    assert.equal(resultsOf(RATE, { ...LIMIT, kind: 'api_key' }), `client ${RATE}`);
  });

  it('tells a shared limit from the pause that a provider asked for', () => {
    assert.equal(resultsOf(RATE, LIMIT), `limited ${RATE}`);
    assert.equal(resultsOf('queue_full'), 'limited queue_full');
    assert.equal(resultsOf(RATE), `throttled ${RATE}`);
    assert.equal(resultsOf('upstream_status_429'), 'throttled upstream_status_429');
  });

  it('of a provider’s own status is as fallback judges it, and its label has few values', () => {
    assert.equal(resultsOf('upstream_status_404'), 'failed upstream_status_404');
    assert.equal(resultsOf('upstream_status_422'), 'client upstream_status_4xx');
    assert.equal(resultsOf('upstream_status_529'), 'failed upstream_status_5xx');
  });

  it('is counted by lane, with one count for all lanes beyond 50', () => {
    const results = countResults();
    for (let at = 0; at < 60; at += 1)
      results.ended({ state: 'completed', cause: null, laneId: `lane ${at}` });
    results.ended({ state: 'completed', cause: null, laneId: 'lane 0' });
    results.refused('invalid_api_key');
    const served = results.byLane().filter(([labels]) => labels['result'] === 'served');
    assert.equal(served.length, 51);
    assert.deepEqual(served[0], [{ lane: 'lane 0', result: 'served' }, 2]);
    assert.deepEqual(served.at(-1), [{ lane: 'other', result: 'served' }, 10]);
    assert.deepEqual(results.byCause(), [
      [{ result: 'served', cause: 'none' }, 61],
      [{ result: 'client', cause: 'invalid_api_key' }, 1],
    ]);
  });
});
