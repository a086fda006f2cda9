import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NextLimit } from '@relay/contract';
import { groupLimits } from './limit-groups.ts';

test('reached limits are apart from the next ones, which include those almost reached without a forecast', () => {
  const nowMs = Date.parse('2026-11-18T12:00:00.000Z');
  const usage = (policy_id: string, remaining: number, runs_out_at: string | null) =>
    ({ policy_id, limit: 47, remaining, runs_out_at }) as NextLimit;
  const { reached, next, lasting } = groupLimits(
    [
      usage('over', 0, '2026-11-18T12:00:00.000Z'),
      usage('passed', 3, '2026-11-18T11:00:00.000Z'),
      usage('afternoon', 30, '2026-11-18T15:00:00.000Z'),
      usage('close', 7, null),
      usage('wide', 40, null),
    ],
    nowMs,
  );
  const ids = (of: readonly { readonly policy_id: string }[]) => of.map(({ policy_id: id }) => id);
  assert.deepEqual(ids(reached), ['over', 'passed']);
  assert.deepEqual(
    next.map(({ usage: { policy_id: id }, atMs }) => [id, atMs === null]),
    [
      ['afternoon', false],
      ['close', true],
    ],
  );
  assert.deepEqual(ids(lasting), ['wide']);
});
