import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { PolicyDescription } from './limit.ts';
import { limitWords, type NamedResources } from './limit-words.ts';

const named = {
  providers: new Map(),
  endpoints: new Map(),
  lanes: new Map([['l1', { name: 'Fast' }]]),
} as unknown as NamedResources;

it('a limit is named with its number, in the singular for one, and with what it applies to', () => {
  const of = (policy: Partial<PolicyDescription>) =>
    limitWords(
      {
        id: 'p',
        policy_kind: 'resource',
        scope_type: 'lane',
        scope_id: 'l1',
        metric: 'requests',
        period: 'second',
        limit_value: 1,
        ...policy,
      },
      named,
    );
  assert.deepEqual(
    [
      of({}),
      of({ metric: 'tokens', period: 'day', limit_value: 12_480 }),
      of({ metric: 'spend', period: 'day', limit_value: 50_000_000, scope_type: 'global' }),
      of({ metric: 'concurrency', period: 'none' }),
      of({ metric: 'concurrency', period: 'none', limit_value: 4 }),
      of({ policy_kind: 'user' }),
      of({ policy_kind: 'api_key', scope_type: 'global', scope_id: null }),
      of({ policy_kind: 'team', scope_id: 'deleted since' }),
    ],
    [
      'the limit of 1 request per second on lane "Fast"',
      'the limit of 12,480 tokens per day on lane "Fast"',
      'the limit of $50.00 per day on the whole organization',
      'the limit of 1 concurrent request on lane "Fast"',
      'the limit of 4 concurrent requests on lane "Fast"',
      'the limit of 1 request per second on this member’s requests to lane "Fast"',
      'the limit of 1 request per second on requests with this key',
      'the limit of 1 request per second on this team’s requests to this lane',
    ],
  );
});
