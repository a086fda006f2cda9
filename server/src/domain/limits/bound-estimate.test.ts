import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { routingTableOf } from '../routing/routing.ts';
import { endpoint, provider, snapshot } from '../snapshot.fixture.ts';
import type { BudgetPolicy, LimitPolicy } from '../snapshot.ts';
import { boundEstimate } from './bound-estimate.ts';

function policy(metric: 'tokens' | 'spend', limitValue: number): LimitPolicy {
  return {
    id: metric,
    scopeType: 'global',
    scopeId: null,
    metric,
    period: 'minute',
    limitValue,
    enabled: true,
  };
}

function bound(
  limitPolicies: LimitPolicy[],
  outputCap: number | null = null,
  keyPolicies: readonly BudgetPolicy[] = [],
  flatRequestCostMicros = 0,
): number {
  const parts = { providers: [provider('p')], endpoints: [endpoint('e', 'p', 'm')], limitPolicies };
  const pricing = {
    inputCostMicrosPer1mTokens: 1_000_000,
    outputCostMicrosPer1mTokens: 2_000_000,
    cachedInputCostMicrosPer1mTokens: null,
    flatRequestCostMicros,
  };
  const priced = { ...snapshot(parts), pricing: new Map([['e', pricing]]) };
  const route = routingTableOf(priced).resolve('m');
  assert.ok(route);
  const candidates = route.members.map(({ candidate }) => candidate);
  const caller = { userId: 'u', keyPolicies };
  const estimate = { inputTokens: 10, outputTokens: 500 };
  return boundEstimate(priced, caller, route, candidates, outputCap, estimate).outputTokens;
}

describe('the part of the input that is a guess', () => {
  const boundInput = (limitValue: number, outputCap: number | null) => {
    const limits = [policy('tokens', limitValue), policy('spend', 1_000_000)];
    const organization = {
      ...snapshot({
        providers: [provider('p')],
        endpoints: [endpoint('e', 'p', 'm')],
        limitPolicies: limits,
      }),
      pricing: new Map(),
    };
    const route = routingTableOf(organization).resolve('m');
    assert.ok(route);
    const candidates = route.members.map(({ candidate }) => candidate);
    const caller = { userId: 'u', keyPolicies: [] };
    const estimate = { inputTokens: 1_010, guessedInputTokens: 1_000, outputTokens: outputCap ?? 500 };
    return boundEstimate(organization, caller, route, candidates, outputCap, estimate);
  };

  it('stays where the limit admits it, and the output gets the rest', () => {
    assert.deepEqual(boundInput(1_200, null), {
      inputTokens: 1_010,
      guessedInputTokens: 1_000,
      outputTokens: 190,
    });
  });
  it('is cut so that the request fits beside its output cap', () => {
    assert.deepEqual(boundInput(300, 50), { inputTokens: 250, guessedInputTokens: 240, outputTokens: 50 });
  });
  it('is none where what was sent fills the limit', () => {
    assert.deepEqual(boundInput(5, null), { inputTokens: 10, guessedInputTokens: 0, outputTokens: 1 });
  });
});

describe('the estimate of a request without a bound on its output', () => {
  it('stays as it is where nothing limits tokens or spend', () => assert.equal(bound([]), 500));
  it('is cut to what the smallest limit over tokens admits', () =>
    assert.equal(bound([policy('tokens', 100)]), 90));
  it('is cut to what the smallest limit over spend buys', () =>
    assert.equal(bound([policy('spend', 111)]), 50));
  it('leaves room for the price of the request itself', () =>
    assert.equal(bound([policy('spend', 131)], null, [], 20), 50));
  it('is cut to what a budget of the key admits', () => {
    const budget: BudgetPolicy = {
      id: 'k',
      kind: 'api_key',
      subjectId: 'key',
      targetType: 'global',
      targetId: null,
      metric: 'tokens',
      period: 'day',
      limitValue: 60,
    };
    assert.equal(bound([policy('tokens', 100)], null, [budget]), 50);
  });
  it('never falls below one token', () => assert.equal(bound([policy('tokens', 5)]), 1));
  it('is left alone when the request names a bound', () => {
    assert.equal(bound([policy('tokens', 100)], 500), 500);
  });
});
