import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiKey, LimitUsage } from '@relay/contract';
import { byTightness, limitsByKey } from './use-key-limits.ts';

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

test('the limits of a key are its own, its owner’s and its teams’, and one that blocks it comes first', () => {
  const owned = (policy_id: string, policy_kind: string, subject_id: string, remaining: number) =>
    ({
      policy_id,
      policy_kind,
      subject_id,
      period: 'week',
      metric: 'tokens',
      used: 0,
      reserved: 0,
      limit: 9,
      remaining,
    }) as LimitUsage;
  const usages = [
    owned('own', 'api_key', 'key', 5),
    owned('other key', 'api_key', 'other', 0),
    owned('owner', 'user', 'anne', 0),
    owned('team', 'team', 'search', 3),
    owned('parent', 'team', 'research', 3),
    owned('other team', 'team', 'sales', 0),
  ];
  const placed = {
    members: [{ id: 'anne', team_id: 'search' }],
    teams: [{ id: 'search', parent_id: 'research' }],
  };
  const idsOf = (key: object) =>
    limitsByKey(
      usages,
      placed,
    )({ id: 'key', user_uuid: 'anne', team_id: null, ...key } as ApiKey).map(({ policy_id: id }) => id);
  assert.deepEqual(idsOf({}), ['owner', 'own', 'team', 'parent']);
  assert.deepEqual(idsOf({ team_id: 'sales' }), ['owner', 'other team', 'own']);
});
