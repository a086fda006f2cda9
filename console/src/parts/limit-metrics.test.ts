import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BoundPolicy } from '@relay/contract';
import { boundLimitOf, haveRejected, roughAmountOf, takenShareOf } from './limit-metrics.ts';

const ofKey: BoundPolicy = {
  policy_id: 'p',
  policy_kind: 'api_key',
  subject_id: '01980000-0000-7000-8000-00000000000a',
  subject_name: 'Nightly batch',
  scope_type: 'lane',
  scope_id: '01980000-0000-7000-8000-00000000000b',
  scope_name: 'Assistant',
  metric: 'requests',
  period: 'day',
  limit_value: 6,
  resets_at: null,
};

test('the limit of a request says how much, whose it is and what it applies to', () => {
  assert.equal(boundLimitOf(ofKey), '6 requests per day for key Nightly batch on lane Assistant');
  const shared = { ...ofKey, policy_kind: 'resource', subject_id: null, subject_name: null } as const;
  assert.equal(boundLimitOf(shared), '6 requests per day on lane Assistant');
});

test('a limit of a key never reads like one of the whole lane, even if the key is unknown', () => {
  assert.equal(
    boundLimitOf({ ...ofKey, subject_name: null }),
    '6 requests per day for key …0000000a on lane Assistant',
  );
  assert.equal(
    boundLimitOf({ ...ofKey, subject_id: null, subject_name: null }),
    '6 requests per day for a key on lane Assistant',
  );
});

test('a deleted limit keeps its metric and place, and a deleted lane the end of its ID', () => {
  assert.equal(
    boundLimitOf({ ...ofKey, limit_value: null }),
    'Requests per day for key Nightly batch on lane Assistant',
  );
  assert.equal(
    boundLimitOf({ ...ofKey, scope_name: null }),
    '6 requests per day for key Nightly batch on lane …0000000b',
  );
});

test('a share counts reservations, which fill a sliding window at most', () => {
  assert.equal(takenShareOf({ used: 30, reserved: 2, limit: 100, period: 'day' }), 0.32);
  assert.equal(takenShareOf({ used: 150, reserved: 0, limit: 100, period: 'day' }), 1.5);
  assert.equal(takenShareOf({ used: 3, reserved: 4, limit: 5, period: 'minute' }), 1);
  assert.equal(takenShareOf({ used: 0, reserved: 0, limit: 0, period: 'day' }), 1);
});

test('a small amount has two digits where it is not a limit', () => {
  assert.equal(roughAmountOf('spend', 3_032), '$0.003');
  assert.equal(roughAmountOf('spend', 17_240_000), '$17.24');
  assert.equal(roughAmountOf('tokens', 12_600_000), '12.6M');
});

test('limits are said to reject only within five minutes of a rejection', () => {
  const nowMs = Date.parse('2026-11-18T12:00:00.000Z');
  const limit = (last_rejected_at: string | null) => ({ last_rejected_at });
  assert.equal(haveRejected([limit(null), limit('2026-11-18T11:54:59.000Z')], nowMs), false);
  assert.equal(haveRejected([limit(null), limit('2026-11-18T11:55:01.000Z')], nowMs), true);
});
