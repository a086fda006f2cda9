import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rejectingWords } from './what-if.ts';

const limit = {
  policy_id: '01980000-0000-7000-8000-000000000001',
  policy_kind: 'resource',
  subject_id: null,
  scope_type: 'lane',
  scope_id: '01980000-0000-7000-8000-000000000002',
  scope_name: 'Checkout helper',
  metric: 'concurrency',
  period: 'none',
  limit: 1,
  requests: 57,
} as const;

test('the limits that reject with the file are named with their counts, the first three of many', () => {
  assert.equal(
    rejectingWords([limit]),
    'Rejecting with the file: shared limit of 1 concurrent request on lane Checkout helper (57 requests).',
  );
  const others = [1, 2, 3].map(() => ({ ...limit, requests: 1 }));
  assert.match(rejectingWords([limit, ...others]), /\(57 requests\), .*\(1 request\), and 1 more\.$/);
});
