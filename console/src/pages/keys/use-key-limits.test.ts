import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LimitUsage } from '@relay/contract';
import { byTightness } from './use-key-limits.ts';

const limit = (policy_id: string, metric: LimitUsage['metric'], used: number, limit: number) =>
  ({ policy_id, metric, used, reserved: 0, limit }) as LimitUsage;

test('budgets come first, and of each kind the tightest', () => {
  const limits = [
    limit('loose requests', 'requests', 1, 10),
    limit('loose budget', 'spend', 1, 10),
    limit('closed', 'requests', 0, 0),
    limit('also closed', 'requests', 5, 0),
    limit('tight budget', 'spend', 9, 10),
  ];
  assert.deepEqual(
    limits.toSorted(byTightness).map(({ policy_id: id }) => id),
    ['tight budget', 'loose budget', 'closed', 'also closed', 'loose requests'],
  );
});
