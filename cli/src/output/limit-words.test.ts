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

const bound = {
  policy_id: 'p',
  subject_id: null,
  subject_name: null,
  scope_id: null,
  scope_name: null,
  limit_value: null,
  resets_at: null,
} as const;

it('the limit of a logged request is named with its value, its owner and what it applies to', () => {
  assert.equal(
    boundPolicyWords({
      ...bound,
      policy_kind: 'api_key',
      subject_name: 'Nightly batch',
      scope_type: 'lane',
      scope_name: 'Assistant',
      metric: 'requests',
      period: 'day',
      limit_value: 6,
    }),
    'key limit of 6 requests per day for Nightly batch on lane Assistant',
  );
});

it('the deleted limit of a logged request is named without its value', () => {
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
