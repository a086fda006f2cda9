import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { RequestDetail } from '@relay/contract';
import { fallbackOf } from './fallback-rows.ts';

type Attempt = Pick<
  RequestDetail['attempts'][number],
  'endpoint_id' | 'upstream_status' | 'error_code' | 'duration_ms'
>;

function fallback(...attempts: Attempt[]) {
  const detail = { request_id: 'r', finished_at: 'now', model: 'fast', state: 'completed', attempts };
  return fallbackOf(detail as RequestDetail);
}

const failed = (id: string, code: string | null, ms: number, status: number | null = null): Attempt => ({
  endpoint_id: id,
  error_code: code,
  upstream_status: status,
  duration_ms: ms,
});
const served = (id: string): Attempt => failed(id, null, 700, 200);

it('says from where to where, why, and how long the attempts before took', () => {
  const row = fallback(failed('a', 'upstream_status_429', 90, 429), served('b'));
  assert.deepEqual(row.endpointIds, ['a', 'b']);
  assert.deepEqual(row.reasons, ['Provider returned 429']);
  assert.equal(row.lostMs, 90);
});

it('counts a retry at one endpoint as one step, and names each reason once', () => {
  const row = fallback(
    failed('a', 'upstream_timeout', 400),
    failed('a', 'upstream_timeout', 300),
    failed('b', null, 20, 500),
    failed('c', 'upstream_timeout', 5),
    served('c'),
  );
  assert.deepEqual(row.endpointIds, ['a', 'b', 'c']);
  assert.deepEqual(row.reasons, ['Provider timed out', 'Provider returned 500']);
  assert.equal(row.lostMs, 720);
});

it('of a request that failed everywhere, the last endpoint is where it ended', () => {
  const row = fallback(failed('a', 'upstream_unreachable', 10), failed('b', 'upstream_timeout', 60));
  assert.deepEqual(row.reasons, ['Provider unreachable']);
  assert.equal(row.lostMs, 10);
});
