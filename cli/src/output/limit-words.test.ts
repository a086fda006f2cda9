import assert from 'node:assert/strict';
import { it } from 'node:test';
import { boundPolicyWords, limitWords } from './limit-words.ts';

it('a limit is named by its kind, its rule and what it applies to', () => {
  assert.equal(
    limitWords({
      policy_kind: 'resource',
      scope_type: 'global',
      metric: 'concurrency',
      period: 'none',
      limit: 4,
    }),
    'shared limit of 4 concurrent requests across the organization',
  );
  assert.equal(
    limitWords({
      policy_kind: 'api_key',
      scope_type: 'lane',
      metric: 'spend',
      period: 'day',
      limit: 50_000_000,
    }),
    'key limit of $50.00 per day on one lane',
  );
});

it('the limit of a logged request is named without its value', () => {
  const bound = { policy_id: 'p', scope_id: null, resets_at: null } as const;
  assert.equal(
    boundPolicyWords({
      ...bound,
      policy_kind: 'resource',
      scope_type: 'global',
      metric: 'concurrency',
      period: 'none',
    }),
    'shared limit: concurrent requests across the organization',
  );
  assert.equal(
    boundPolicyWords({
      ...bound,
      policy_kind: 'user',
      scope_type: 'global',
      metric: 'tokens',
      period: 'day',
    }),
    'member limit: tokens per day',
  );
});
