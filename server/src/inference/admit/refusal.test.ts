import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Refusal } from '../../admission/engine.ts';
import type { Route } from '../../domain/routing/routing.ts';
import { snapshot } from '../../domain/snapshot.fixture.ts';
import type { BudgetPolicy, LimitPolicy } from '../../domain/snapshot.ts';
import type { Exchange } from '../exchange.ts';
import { refusalError } from './refusal.ts';

const route = { maxWaitMs: 100 } as Route;
const policy: LimitPolicy = {
  id: 'p',
  scopeType: 'global',
  scopeId: null,
  metric: 'requests',
  period: 'minute',
  limitValue: 60,
  enabled: true,
};
const budget: BudgetPolicy = {
  id: 'u',
  kind: 'user',
  subjectId: 'anne',
  targetType: 'global',
  targetId: null,
  metric: 'tokens',
  period: 'day',
  limitValue: 900,
};
const keyBudget: BudgetPolicy = {
  ...budget,
  id: 'k',
  kind: 'api_key',
  subjectId: 'key',
  targetType: 'lane',
  targetId: 'l1',
};
const exchange = {
  snapshot: snapshot({ limitPolicies: [policy], userPolicies: [budget] }),
  caller: { userId: 'anne', keyPolicies: [keyBudget] as readonly BudgetPolicy[] },
  arrivedAtMs: 0,
  waitMs: 0,
} as Exchange;

function refused(over: Partial<Refusal>): ReturnType<typeof refusalError> {
  const refusal: Refusal = {
    kind: 'refused',
    reason: 'wait_budget',
    retryAfterMs: 0,
    policyId: null,
    resetMs: 0,
    window: null,
  };
  return refusalError(exchange, route, { ...refusal, ...over });
}

describe('a refusal for lack of capacity', () => {
  it('says when to retry, in seconds and in milliseconds', () => {
    const error = refused({ retryAfterMs: 1_500, resetMs: 1_600 });
    assert.equal(error.code, 'rate_limit_wait_budget_exceeded');
    assert.deepEqual(error.detail.headers, { 'Retry-After': '2', 'retry-after-ms': '1500' });
    assert.equal(error.detail.fields?.['retry_after'], 2);
    assert.equal(error.detail.fields?.['resets_at'], '1970-01-01T00:00:01.600Z');
    const ofDay = refused({ policyId: 'u', retryAfterMs: 1_500, resetMs: 86_400_000 - 12 });
    assert.equal(ofDay.detail.fields?.['resets_at'], '1970-01-02T00:00:00.000Z');
  });

  it('names the limit that caused it', () => {
    const error = refused({ retryAfterMs: 1_500, policyId: 'p' });
    assert.match(
      error.message,
      /limit of 60 requests per minute on the whole organization has been reached, and this request can wait at most 100 ms\. Retry in 2 s\./,
    );
    assert.deepEqual(error.detail.fields?.['policy'], {
      id: 'p',
      policy_kind: 'resource',
      scope_type: 'global',
      scope_id: null,
      metric: 'requests',
      period: 'minute',
      limit_value: 60,
    });
  });

  it('says durations and money in words that people read', () => {
    const spend = { ...budget, metric: 'spend', limitValue: 12_500_000 } as const;
    const caller = { userId: 'anne', keyPolicies: [] as readonly BudgetPolicy[] };
    const spent = { ...exchange, snapshot: snapshot({ userPolicies: [spend] }), caller } as Exchange;
    const refusal: Refusal = {
      kind: 'refused',
      reason: 'wait_budget',
      retryAfterMs: (8 * 60 + 39) * 60_000,
      policyId: 'u',
      resetMs: 0,
      window: null,
    };
    const { message } = refusalError(spent, { maxWaitMs: 30_000 } as Route, refusal);
    assert.match(message, /limit of \$12\.50 per day on this member’s requests/);
    assert.match(message, /has no room for this request\. Retry in 8 h 39 min\./);
    const window = { policyId: 'u', used: 12_400_000, resetMs: 60_000 };
    assert.match(
      refusalError(spent, { maxWaitMs: 30_000 } as Route, { ...refusal, window }).message,
      /no room for this request: \$12\.40 used or reserved\. Retry in 8 h 39 min\./,
    );
  });

  it('names a member or key limit, its owner and where it applies', () => {
    const ofUser = refused({ retryAfterMs: 1_500, policyId: 'u' });
    assert.match(
      ofUser.message,
      /limit of 900 tokens per day on this member’s requests has no room for this request/,
    );
    const ofKey = refused({ retryAfterMs: 1_500, policyId: 'k@l1' });
    assert.match(ofKey.message, /on requests with this key to this lane has no room for this request/);
    assert.deepEqual(ofKey.detail.fields?.['policy'], {
      id: 'k',
      policy_kind: 'api_key',
      scope_type: 'lane',
      scope_id: 'l1',
      metric: 'tokens',
      period: 'day',
      limit_value: 900,
    });
  });

  it('says what is left of the limit that caused it', () => {
    const window = { policyId: 'p', used: 58, resetMs: 41_250 };
    const error = refused({ retryAfterMs: 1_500, policyId: 'p', window });
    assert.deepEqual(error.detail.headers, {
      'Retry-After': '2',
      'retry-after-ms': '1500',
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '2',
      'x-ratelimit-reset-requests': '41.250s',
    });
  });

  it('is no budget when a provider asked for a long pause', () => {
    const error = refused({ retryAfterMs: 90_000, policyId: null });
    assert.equal(error.code, 'rate_limit_wait_budget_exceeded');
    assert.equal(error.detail.retry, false);
  });

  it('has the same code and the same hint at every moment of one limit', () => {
    for (const retryAfterMs of [1, 59_999, 60_000, 60_001, 3_600_000]) {
      for (const [policyId, code, retry] of [
        ['p', 'rate_limit_wait_budget_exceeded', true],
        ['u', 'budget_exhausted', false],
      ] as const) {
        const error = refused({ retryAfterMs, policyId });
        assert.deepEqual(
          [error.code, error.detail.retry],
          [code, retry],
          `${policyId} at ${retryAfterMs} ms`,
        );
        assert.equal(error.detail.headers?.['retry-after-ms'], String(retryAfterMs));
      }
    }
  });

  it('gives no Retry-After to a request that is larger than the limit', () => {
    const error = refused({ reason: 'exceeds_limit', policyId: 'p' });
    assert.equal(error.code, 'request_exceeds_limit');
    assert.equal(error.detail.retry, false);
    assert.deepEqual(error.detail.headers, {});
  });

  it('says of a limit of 0 that it allows nothing, not that a smaller request fits', () => {
    const none = { ...exchange, snapshot: snapshot({ limitPolicies: [{ ...policy, limitValue: 0 }] }) };
    const refusal: Refusal = {
      kind: 'refused',
      reason: 'exceeds_limit',
      retryAfterMs: 0,
      policyId: 'p',
      resetMs: 0,
      window: null,
    };
    const { message } = refusalError(none as Exchange, route, refusal);
    assert.match(
      message,
      /^The limit of 0 requests per minute .* allows nothing\. Raise or remove the limit\.$/,
    );
  });

  it('says that the queue is full', () => {
    const error = refused({ reason: 'queue_full', retryAfterMs: 1_000 });
    assert.equal(error.code, 'queue_full');
    assert.equal(error.detail.headers?.['Retry-After'], '1');
  });
});
