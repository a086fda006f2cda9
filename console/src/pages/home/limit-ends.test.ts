import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LimitUsage } from '@relay/contract';
import { limitEnds, tightestOf } from './limit-ends.ts';

const NOON = Date.UTC(2026, 10, 16, 12);

function usage(id: string, over: Partial<LimitUsage> = {}): LimitUsage {
  return {
    policy_id: id,
    policy_kind: 'resource',
    scope_type: 'global',
    scope_id: null,
    metric: 'requests',
    period: 'day',
    limit: 100,
    used: 0,
    reserved: 0,
    remaining: 100,
    resets_at: null,
    ...over,
  };
}

describe('the limits that run out', () => {
  it('are those used up now, then those that do not last until they reset', () => {
    const all = [
      usage('lasts', { used: 40, remaining: 60 }),
      usage('afternoon', { used: 80, remaining: 20 }),
      usage('now', { used: 100, remaining: 0 }),
      usage('busy', { metric: 'concurrency', period: 'none', used: 100, remaining: 0 }),
      usage('minute', { period: 'minute', used: 100, remaining: 0 }),
      usage('closed', { limit: 0, remaining: 0 }),
    ];
    assert.deepEqual(
      limitEnds(all, NOON).map(({ usage: { policy_id: id }, atMs }) => [id, atMs - NOON]),
      [
        ['now', 0],
        ['afternoon', 3 * 3_600_000],
      ],
    );
  });

  it('are listed by remaining share when none does', () => {
    const all = [usage('much'), usage('little', { used: 90, remaining: 10 })];
    assert.deepEqual(
      tightestOf(all).map(({ policy_id: id }) => id),
      ['little', 'much'],
    );
  });
});
