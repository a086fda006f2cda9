import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LimitUsage } from '@relay/contract';
import { limitLine, limitPlace } from './limit-line.ts';

const limit = (scope: Pick<LimitUsage, 'scope_type' | 'scope_id'>, policy_kind = 'api_key') =>
  ({
    policy_kind,
    metric: 'requests',
    period: 'day',
    used: 35,
    reserved: 1,
    limit: 36,
    ...scope,
  }) as LimitUsage;
const nameOf = (id: string) => ({ lane1: 'Assistant' })[id] ?? id;

test('a limit of a key says what it applies to, unless that is all its requests', () => {
  const onLane = limit({ scope_type: 'lane', scope_id: 'lane1' });
  assert.equal(limitPlace(onLane, nameOf), 'on lane Assistant');
  assert.equal(limitLine(onLane, nameOf), '36 of 36 requests per day on lane Assistant');
  const onAll = limit({ scope_type: 'global', scope_id: null });
  assert.equal(limitPlace(onAll, nameOf), null);
  assert.equal(limitLine(onAll, nameOf), '36 of 36 requests per day');

  assert.equal(limitPlace(limit({ scope_type: 'global', scope_id: null }, 'user'), nameOf), 'member limit');
  const ofTeam = limit({ scope_type: 'lane', scope_id: 'lane1' }, 'team');
  assert.equal(limitLine(ofTeam, nameOf), '36 of 36 requests per day, team limit on lane Assistant');
});
