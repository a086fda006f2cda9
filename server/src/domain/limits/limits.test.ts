import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limitMetrics } from '@relay/contract';
import fc from 'fast-check';
import type { TokenEstimate } from '../money/usage.ts';
import type { LimitScopeType, OrganizationSnapshot, Pricing } from '../snapshot.ts';
import {
  AMOUNTS,
  ANYONE,
  budget,
  candidateOf,
  chargesAt,
  organization,
  policy,
  ROUTES,
  routeOf,
  touches,
} from './limits.fixture.ts';
import {
  chargesFor,
  describePolicy,
  estimatedAmounts,
  estimatedCharges,
  hasPolicies,
  limitsCounting,
} from './limits.ts';

describe('the limits of a request', () => {
  const scopes: readonly [LimitScopeType, string | null][] = [
    ['global', null],
    ['provider', 'p1'],
    ['credential', 'c1'],
    ['endpoint', 'e1'],
    ['lane', 'l1'],
  ];
  for (const [scopeType, scopeId] of scopes) {
    const own = ['fast', 'Fast Lane'];
    const reached = scopeType === 'lane' ? own : ['fast', 'Fast Lane', 'p1/gpt', 'gpt'];
    it(`a policy on ${scopeType} is reached by ${reached.join(', ')}`, () => {
      for (const metric of limitMetrics) {
        const organized = organization([policy('x', { scopeType, scopeId, metric })]);
        for (const model of reached) {
          const route = routeOf(organized, model);
          const first = route.members.find(({ candidate }) => candidate.endpoint.id === 'e1');
          assert.ok(first);
          const charges = chargesFor(organized, ANYONE, route, first.candidate, AMOUNTS);
          assert.deepEqual(
            charges.map((charge) => charge.policy.id.split('@')[0]),
            ['x'],
          );
        }
      }
    });
  }

  it('are exactly those whose scope the candidate or the lane is in, whatever else is configured', () => {
    const scope = fc.oneof(
      fc.constant({ scopeType: 'global' as const, scopeId: null }),
      fc.record({
        scopeType: fc.constantFrom<LimitScopeType>('provider', 'credential', 'endpoint', 'lane'),
        // Also ids of another kind: equal text is not the same resource.
        scopeId: fc.constantFrom('p1', 'p2', 'open', 'c1', 'c2', 'unsent', 'e1', 'e2', 'e3', 'l1', 'l2'),
      }),
    );
    const some = fc.array(fc.tuple(scope, fc.constantFrom(...limitMetrics)), { maxLength: 12 });
    fc.assert(
      fc.property(some, fc.option(fc.nat({ max: 9 }), { nil: undefined }), (made, bound) => {
        const policies = made.map(([at, metric], index) => policy(`limit-${index}`, { ...at, metric }));
        const over = bound === undefined ? {} : { maxConcurrency: bound + 1 };
        const organized = organization(policies, over);
        for (const model of ROUTES) {
          const route = routeOf(organized, model);
          for (const { candidate } of route.members) {
            const expected = policies.filter((each) => touches(each, route, candidate)).map(({ id }) => id);
            if (bound !== undefined && candidate.endpoint.id === 'e1')
              expected.push('endpoint:e1:max_concurrency');
            const charges = chargesFor(organized, ANYONE, route, candidate, AMOUNTS);
            assert.deepEqual(
              charges.map((charge) => charge.policy.id.split('@')[0]),
              expected,
            );
            const counting = limitsCounting(organized, ANYONE, route.lane?.id ?? null, [
              candidate,
              candidate,
            ]);
            assert.deepEqual(
              counting.map(({ applied }) => applied),
              charges.map(({ policy: limit }) => limit),
              'what is listed is what is charged, each once',
            );
            for (const { policy: limit, cost } of charges) {
              const costs = { requests: 1, concurrency: 1, tokens: 70, spend: 900 };
              assert.equal(cost, costs[limit.metric]);
            }
          }
        }
        assert.equal(hasPolicies(organized, ANYONE), policies.length > 0 || bound !== undefined);
      }),
    );
  });

  it('keep their order from request to request; only the costs differ', () => {
    const organized = organization(limitMetrics.map((metric) => policy(metric, { metric })));
    const route = routeOf(organized, 'gpt');
    const candidate = candidateOf(organized, 'gpt', 'e1');
    const first = chargesFor(organized, ANYONE, route, candidate, AMOUNTS);
    const second = chargesFor(organized, ANYONE, route, candidate, { tokens: 1, spendMicros: 2 });
    assert.deepEqual(
      first.map(({ cost }) => cost),
      [1, 70, 900, 1],
    );
    assert.deepEqual(
      second.map(({ cost }) => cost),
      [1, 1, 2, 1],
    );
    for (const [index, charge] of first.entries()) assert.equal(second[index]?.policy, charge.policy);
  });

  it('are the same object again when none depends on the estimate', () => {
    const organized = organization([policy('a'), policy('b', { metric: 'concurrency' })]);
    const route = routeOf(organized, 'gpt');
    const candidate = candidateOf(organized, 'gpt', 'e1');
    const again = () => chargesFor(organized, ANYONE, route, candidate, AMOUNTS);
    assert.equal(again(), again());
  });

  it('follow the next snapshot immediately', () => {
    const model = 'fast';
    const limits = (organized: OrganizationSnapshot) =>
      chargesAt(organized, ANYONE, model, 'e1').map(({ policy: { limit } }) => limit);
    assert.deepEqual(limits(organization([policy('a', { limitValue: 5 })])), [5]);
    assert.deepEqual(limits(organization([policy('a', { limitValue: 6 })])), [6]);
    assert.deepEqual(limits(organization([])), []);
  });

  it("include an endpoint's own bound on concurrency, from every route to it", () => {
    const organized = organization([], { maxConcurrency: 4 });
    assert.ok(hasPolicies(organized, ANYONE));
    for (const model of ['fast', 'p1/gpt', 'gpt']) {
      const [charge, ...others] = chargesAt(organized, ANYONE, model, 'e1');
      const { counts: _counts, ...bound } = charge?.policy ?? {};
      const id = 'endpoint:e1:max_concurrency';
      assert.deepEqual(bound, { id, metric: 'concurrency', period: 'none', limit: 4 });
      assert.deepEqual([charge?.cost, others], [1, []]);
    }
  });
});

const PRICING: Pricing = {
  inputCostMicrosPer1mTokens: 1_000_000,
  outputCostMicrosPer1mTokens: 2_000_000,
  cachedInputCostMicrosPer1mTokens: 1,
  flatRequestCostMicros: 5,
};
const FREE_PRICING: Pricing = {
  inputCostMicrosPer1mTokens: 0,
  outputCostMicrosPer1mTokens: 0,
  cachedInputCostMicrosPer1mTokens: null,
  flatRequestCostMicros: 0,
};

describe('the estimated amounts', () => {
  const priced = { ...organization([]), pricing: new Map([['e1', PRICING]]) };
  const estimate = { inputTokens: 10, outputTokens: 20 };

  it('are input and output, at the full price of the endpoint', () => {
    const amounts = estimatedAmounts(priced, candidateOf(priced, 'gpt', 'e1'), estimate);
    assert.deepEqual(amounts, { tokens: 30, spendMicros: 55 });
  });
  it('of a request that can cost nothing take nothing, so that a spent budget does not hold it back', () => {
    const free = { ...FREE_PRICING, variants: [{ serviceTier: 'flex', outputCostMicrosPer1mTokens: 0 }] };
    assert.deepEqual(chargedAt(undefined), [['r', 1]]);
    assert.deepEqual(chargedAt(free), [['r', 1]]);
    const whole = [
      ['s', 55],
      ['r', 1],
    ];
    assert.deepEqual(chargedAt(PRICING), whole);
    assert.deepEqual(
      chargedAt(PRICING, { ...estimate, free: true }),
      [['r', 1]],
      'the provider charges nothing',
    );
  });
  const perhaps: readonly (readonly [string, Partial<Pricing>])[] = [
    ['of another service tier', { variants: [{ serviceTier: 'priority', inputCostMicrosPer1mTokens: 5 }] }],
    ['of more input', { variants: [{ aboveInputTokens: 1_000, flatRequestCostMicros: 5 }] }],
    ['of audio', { audioInputCostMicrosPer1mTokens: 5 }],
    ['of thinking', { reasoningCostMicrosPer1mTokens: 5 }],
  ];
  for (const [what, prices] of perhaps)
    it(`of nothing are charged where there is a price ${what}, so that the limit counts what the request costs`, () => {
      const charges = chargedAt({ ...FREE_PRICING, ...prices });
      assert.deepEqual(charges, [
        ['s', 0],
        ['r', 1],
      ]);
    });

  function chargedAt(pricing: Pricing | undefined, of: TokenEstimate = estimate) {
    const limited = {
      ...organization([policy('s', { metric: 'spend' }), policy('r')]),
      pricing: new Map(pricing === undefined ? [] : [['e1', pricing]]),
    };
    const candidate = candidateOf(limited, 'gpt', 'e1');
    return estimatedCharges(limited, ANYONE, routeOf(limited, 'gpt'), candidate, of, null).map((charge) => [
      charge.policy.id,
      charge.cost,
    ]);
  }

  it('spend nothing where no price is set', () => {
    const amounts = estimatedAmounts(priced, candidateOf(priced, 'gpt', 'e2'), estimate);
    assert.deepEqual(amounts, { tokens: 30, spendMicros: 0 });
  });
});

describe('the description of a policy', () => {
  it('says what it limits, for a configured one and for an endpoint bound', () => {
    const at = { scopeType: 'lane', scopeId: 'l1', metric: 'spend', period: 'day' } as const;
    const organized = organization([policy('x', at)], { maxConcurrency: 2 });
    assert.deepEqual(describePolicy(organized, ANYONE, 'x@l1'), {
      id: 'x',
      policy_kind: 'resource',
      scope_type: 'lane',
      scope_id: 'l1',
      metric: 'spend',
      period: 'day',
      limit_value: 100,
    });
    assert.deepEqual(describePolicy(organized, ANYONE, 'endpoint:e1:max_concurrency'), {
      id: 'endpoint:e1:max_concurrency',
      policy_kind: 'resource',
      scope_type: 'endpoint',
      scope_id: 'e1',
      metric: 'concurrency',
      period: 'none',
      limit_value: 2,
    });
  });
  it('names budgets by kind and target, to those they bind', () => {
    const organized = organization([], { userPolicies: [budget('user', 'u')] });
    const at = { targetType: 'model', targetId: 'e1', metric: 'tokens' } as const;
    const caller = { userId: 'anne', keyPolicies: [budget('api_key', 'k', at)] };
    assert.deepEqual(describePolicy(organized, caller, 'k@e1'), {
      id: 'k',
      policy_kind: 'api_key',
      scope_type: 'model',
      scope_id: 'e1',
      metric: 'tokens',
      period: 'day',
      limit_value: 10,
    });
    assert.equal(describePolicy(organized, caller, 'u')?.policy_kind, 'user');
    assert.equal(describePolicy(organized, ANYONE, 'u'), null);
  });
  it('is null once the policy is gone', () =>
    assert.equal(describePolicy(organization([]), ANYONE, 'x'), null));
});
