import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiKey } from '@relay/contract';
import type { KeyUse } from '../../address/list-search.ts';
import { isEnding, isOfUse } from './key-use.ts';

const NOW_MS = Date.parse('2026-11-17T12:00:00.000Z');
const inDays = (days: number) => new Date(NOW_MS + days * 86_400_000).toISOString();
const asked = (use: KeyUse | undefined) => ({ use, selfId: 'self', nowMs: NOW_MS });
const key = (fields: Partial<ApiKey>) =>
  ({ status: 'active', last_used_at: null, expires_at: null, ...fields }) as ApiKey;

test('a key is unused if it never was used, or not in the last 30 days', () => {
  for (const [last_used_at, unused] of [
    [null, true],
    [inDays(-31), true],
    [inDays(-29), false],
  ] as const)
    assert.equal(isOfUse(asked('unused'), key({ last_used_at })), unused, String(last_used_at));
});

test('a key is the caller’s own by its owner, and all are shown unless asked for fewer', () => {
  const [own, other] = [key({ user_uuid: 'self' }), key({ user_uuid: 'other' })];
  assert.deepEqual([isOfUse(asked('mine'), own), isOfUse(asked('mine'), other)], [true, false]);
  assert.equal(isOfUse(asked(undefined), other), true);
});

test('a key is ending if it expires in the next 30 days and has not ended yet', () => {
  assert.equal(isEnding(key({ expires_at: null }), NOW_MS), false);
  assert.equal(isEnding(key({ expires_at: inDays(29) }), NOW_MS), true);
  assert.equal(isEnding(key({ expires_at: inDays(31) }), NOW_MS), false);
  assert.equal(isEnding(key({ expires_at: inDays(1), status: 'revoked' }), NOW_MS), false);
});
