import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FailureCause } from '@relay/contract';
import { endOf, mergeCauses, timeOf } from './causes.ts';

const at = (time: string) => `2026-11-18T${time}:00.000Z`;
const cause = (over: Partial<FailureCause>): FailureCause => ({
  error_code: 'upstream_credential_refused',
  requests: 1,
  first_at: at('10:00'),
  last_at: at('11:00'),
  example_request_id: null,
  http_status: 502,
  provider_id: 'provider',
  endpoint_id: 'a',
  lane_id: null,
  guardrail_id: null,
  limited_by: null,
  summary: 'Provider "Main" rejected Relay’s credential.',
  action: {
    kind: 'replace_credential',
    resource_type: 'provider',
    resource_id: 'provider',
    resource_name: 'Main',
  },
  no_action: null,
  ...over,
});

test('one sentence with one action is one row, whatever endpoints it is of; the most frequent is first', () => {
  const [first, second] = mergeCauses([
    cause({ error_code: 'no_route', summary: 'No route.', requests: 6 }),
    cause({ requests: 5, last_at: at('12:00') }),
    cause({ requests: 4, endpoint_id: 'b', first_at: at('09:00') }),
  ]);
  assert.deepEqual([first?.requests, second?.requests], [9, 6]);
  assert.deepEqual([first?.first_at, first?.last_at], [at('09:00'), at('12:00')]);
  assert.deepEqual([first?.provider_id, first?.endpoint_id], ['provider', null]);
});

test('a cause goes on since a moment, or ended; one at the edge of the range may be older', () => {
  const day = { from: '2026-11-17T12:00:00.000Z', to: at('12:00') };
  const nowMs = Date.parse(at('12:00'));
  const of = (first_at: string, last_at: string) => timeOf({ first_at, last_at }, day, nowMs);
  assert.deepEqual(of(at('10:00'), at('11:58')), {
    kind: 'since',
    atMs: Date.parse(at('10:00')),
    isOlder: false,
  });
  assert.deepEqual(of(at('07:00'), at('09:00')), { kind: 'between' });
  assert.deepEqual(of(at('09:00'), at('09:00')), { kind: 'once' });
  const edge = of('2026-11-17T12:10:00.000Z', at('11:58'));
  assert.equal(edge.kind === 'since' && edge.isOlder, true);
});

test('a cause ends when its limit resets or the cooldown of its endpoint is over, while that is ahead', () => {
  const nowMs = Date.parse(at('12:00'));
  const endpoints = [{ id: 'a', cooldown_until: at('12:01') }];
  const limit = { resets_at: at('13:00') } as NonNullable<FailureCause['limited_by']>;
  assert.deepEqual(endOf(cause({ limited_by: limit }), [], nowMs), {
    kind: 'resets',
    atMs: Date.parse(at('13:00')),
  });
  assert.equal(endOf(cause({}), endpoints, nowMs)?.kind, 'retries');
  assert.equal(endOf(cause({ endpoint_id: 'b' }), endpoints, nowMs), null);
  assert.equal(endOf(cause({}), endpoints, Date.parse(at('12:02'))), null);
});
