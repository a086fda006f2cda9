import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RequestDetail } from '@relay/contract';
import { storyOf, withTrueFirstToken } from './story.ts';

function said(over: object): string {
  const detail = {
    state: 'completed',
    streaming: false,
    wait_ms: 0,
    duration_ms: 400,
    attempts: [{ endpoint_id: 'b', outcome: 'succeeded', upstream_status: 200 }],
    ...over,
  } as unknown as RequestDetail;
  return storyOf(detail, (id) => id.toUpperCase())
    .map(({ before, strong, after }) => `${before}${strong}${after}`)
    .join(', ');
}

describe('the sentence about a request', () => {
  it('says how it ended', () => {
    assert.equal(said({}), 'completed in 400 ms total');
    assert.equal(said({ streaming: true }), 'streamed a response in 400 ms total');
    assert.equal(said({ state: 'failed', attempts: [] }), 'failed after 400 ms total');
    const attempts = [{ endpoint_id: 'a', outcome: 'failed', upstream_status: 500 }];
    assert.equal(said({ state: 'failed', attempts }), 'got 500 from A, failed after 400 ms total');
    assert.equal(said({ state: 'cancelled' }), 'was cancelled by the client after 400 ms total');
  });

  it('tells the wait, failed attempts and the fallback in order', () => {
    const attempts = [
      { endpoint_id: 'a', outcome: 'failed', upstream_status: 429 },
      { endpoint_id: 'c', outcome: 'failed', upstream_status: null },
      { endpoint_id: 'b', outcome: 'succeeded', upstream_status: 200 },
    ];
    assert.equal(
      said({ wait_ms: 100, attempts }),
      'waited 100 ms in the queue, got 429 from A, got no response from C, fell back to B, completed in 400 ms total',
    );
  });

  it('does not call another attempt at the same endpoint a fallback', () => {
    const attempts = [
      { endpoint_id: 'a', outcome: 'failed', upstream_status: 500 },
      { endpoint_id: 'a', outcome: 'succeeded', upstream_status: 200 },
    ];
    assert.equal(said({ attempts }), 'got 500 from A, completed in 400 ms total');
  });
});

it('a failed request without output has no time to first token', () => {
  const firstOf = (over: object) =>
    withTrueFirstToken({ timings: { first_content_ms: 11 }, ...over } as unknown as RequestDetail).timings
      .first_content_ms;
  assert.equal(firstOf({ state: 'failed', output_tokens: null }), null);
  assert.equal(firstOf({ state: 'failed', output_tokens: 3 }), 11);
  assert.equal(firstOf({ state: 'completed', output_tokens: null }), 11);
});
