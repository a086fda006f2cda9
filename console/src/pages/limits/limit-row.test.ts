import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  ApiKeyLimitPolicy,
  LimitPolicy,
  LimitUsage,
  TeamLimitPolicy,
  UserLimitPolicy,
} from '@relay/contract';
import { limitRows } from './limit-row.ts';

const rule = { metric: 'requests', period: 'day', limit_value: 10, enabled: true } as const;
const usage = { used: 4, reserved: 1, remaining: 5, limit: 10, policy_kind: 'resource' } as const;

test('limits of all kinds become rows with live state and owner', () => {
  const rows = limitRows({
    resource: [
      { ...rule, id: 'r', scope_type: 'lane', scope_id: 'l', managed_by: 'file' },
      { ...rule, id: 'off', scope_type: 'global', scope_id: null, enabled: false },
    ] as LimitPolicy[],
    user: [
      { ...rule, limit_uuid: 'u', user_uuid: 'anne', target_type: 'global', target_id: null },
    ] as UserLimitPolicy[],
    apiKey: [
      { ...rule, limit_uuid: 'k', api_key_uuid: 'key', target_type: 'model', target_id: 'e' },
    ] as ApiKeyLimitPolicy[],
    team: [
      { ...rule, limit_uuid: 't', team_uuid: 'team', target_type: 'global', target_id: null },
    ] as TeamLimitPolicy[],
    usage: ['r', 'off', 'k'].map((id) => ({ ...usage, policy_id: id }) as LimitUsage),
  });
  assert.deepEqual(
    rows.map(({ id, kind, subjectId, scope, fromFile }) => [id, kind, subjectId, scope, fromFile]),
    [
      ['r', 'resource', null, 'lane', true],
      ['off', 'resource', null, 'global', false],
      ['u', 'user', 'anne', 'global', false],
      ['k', 'api_key', 'key', 'model', false],
      ['t', 'team', 'team', 'global', false],
    ],
  );
  assert.deepEqual(
    rows.map((row) => row.usage?.used ?? null),
    [4, null, null, 4, null],
  );
});

test('the concurrency limit of an endpoint is a row, and a deleted limit is not', () => {
  const bound = {
    ...usage,
    policy_id: 'endpoint:e:max_concurrency',
    scope_type: 'endpoint',
    scope_id: 'e',
    metric: 'concurrency',
    period: 'none',
  } as LimitUsage;
  const gone = { ...usage, policy_id: 'gone' } as LimitUsage;
  const rows = limitRows({ resource: [], user: [], apiKey: [], team: [], usage: [bound, gone] });
  assert.deepEqual(
    rows.map(({ id, ofEndpoint, scopeId }) => [id, ofEndpoint, scopeId]),
    [['endpoint:e:max_concurrency', true, 'e']],
  );
});
