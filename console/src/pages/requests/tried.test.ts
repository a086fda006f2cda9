import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RecordedCandidate, RequestDetail } from '@relay/contract';
import { triedOf } from './tried.ts';

const attempts = [
  { endpoint_id: 'a', outcome: 'failed', error_code: 'upstream_status_429' },
  { endpoint_id: 'b', outcome: 'failed', error_code: 'upstream_timeout' },
  { endpoint_id: 'b', outcome: 'succeeded', error_code: null },
];

const saidOf = (id: string, over: object = { attempts }) => {
  const candidate = { endpoint_id: id, verdict: 'unhealthy', reason: 'the attempt failed' };
  const tried = triedOf(candidate as RecordedCandidate, over as unknown as RequestDetail);
  return tried === null ? null : `${tried.word}. ${tried.reason}`;
};

test('a candidate that was tried in vain says so and why', () => {
  assert.equal(saidOf('a'), 'Tried, failed. Provider returned 429: the attempt failed');
});

test('a candidate that answered in the end, or that was not tried, keeps its verdict', () => {
  assert.equal(saidOf('b'), null);
  assert.equal(saidOf('c'), null);
});
