import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limitMetrics } from '@relay/contract';
import type { BudgetTargetType } from '../snapshot.ts';
import { ANYONE, budget, charged, chargesAt, organization, policy } from './limits.fixture.ts';
import { hasPolicies, type LimitedCaller } from './limits.ts';

describe('budgets', () => {
  const targets: readonly [BudgetTargetType, string | null, readonly string[], readonly string[]][] = [
    // Which of the routes below the target covers at endpoint e1, and which at e2.
    ['global', null, ['fast', 'slow', 'gpt'], ['fast', 'slow', 'gpt']],
    ['provider', 'p1', ['fast', 'slow', 'gpt'], []],
    ['model', 'e1', ['fast', 'slow', 'gpt'], []],
    ['lane', 'l1', ['fast'], ['fast']],
  ];
  const anne: LimitedCaller = { userId: 'anne', keyPolicies: [] };

  for (const [targetType, targetId, atFirst, atSecond] of targets) {
    const reached = { e1: atFirst, e2: atSecond };
    const at = { targetType, targetId };

    it(`of a member on ${targetType} apply to that member, with any key or none, and to no other caller`, () => {
      for (const metric of limitMetrics) {
        const organized = organization([], { userPolicies: [budget('user', 'u', { ...at, metric })] });
        const keyed: LimitedCaller = { userId: 'anne', keyPolicies: [budget('api_key', 'k')] };
        for (const model of ['fast', 'slow', 'gpt']) {
          for (const endpointId of ['e1', 'e2'] as const) {
            const own = reached[endpointId].includes(model) ? ['u'] : [];
            assert.deepEqual(charged(organized, anne, model, endpointId), own);
            assert.deepEqual(charged(organized, keyed, model, endpointId), [...own, 'k']);
            assert.deepEqual(charged(organized, { ...ANYONE, userId: 'ben' }, model, endpointId), []);
          }
        }
        assert.ok(hasPolicies(organized, anne));
        assert.ok(!hasPolicies(organized, ANYONE));
      }
    });

    it(`of a key on ${targetType} apply to that key and to no other of its owner`, () => {
      const organized = organization([]);
      for (const metric of limitMetrics) {
        const first: LimitedCaller = {
          userId: 'anne',
          keyPolicies: [budget('api_key', 'k', { ...at, metric })],
        };
        for (const model of ['fast', 'slow', 'gpt']) {
          for (const endpointId of ['e1', 'e2'] as const) {
            const own = reached[endpointId].includes(model) ? ['k'] : [];
            assert.deepEqual(charged(organized, first, model, endpointId), own);
            assert.deepEqual(charged(organized, anne, model, endpointId), []);
          }
        }
        assert.ok(hasPolicies(organized, first));
        assert.ok(!hasPolicies(organized, anne));
      }
    });
  }

  it('of two members are kept apart, whoever asks first', () => {
    const userPolicies = [budget('user', 'a'), budget('user', 'b', { subjectId: 'ben' })];
    const organized = organization([], { userPolicies });
    assert.deepEqual(charged(organized, anne, 'gpt', 'e1'), ['a']);
    assert.deepEqual(charged(organized, { ...anne, userId: 'ben' }, 'gpt', 'e1'), ['b']);
    assert.deepEqual(charged(organized, anne, 'gpt', 'e1'), ['a']);
  });

  it('that are restarted count calendar windows again from the ledger, and short ones on', () => {
    const idOf = (period: 'minute' | 'day', counter: number) =>
      chargesAt(
        organization([], { userPolicies: [budget('user', 'u', { period, counter })] }),
        anne,
        'gpt',
        'e1',
      )[0]?.policy.id;
    assert.notEqual(idOf('day', 1), idOf('day', 0));
    assert.notEqual(idOf('day', 1), idOf('day', 2));
    assert.equal(idOf('minute', 1), idOf('minute', 0));
  });

  it('come after the shared limits, at the estimated cost', () => {
    const organized = organization([policy('r', { metric: 'tokens' })], {
      userPolicies: [budget('user', 'u', { metric: 'spend' })],
    });
    const caller = { userId: 'anne', keyPolicies: [budget('api_key', 'k', { metric: 'tokens' })] };
    const charges = chargesAt(organized, caller, 'gpt', 'e1', { tokens: 7, spendMicros: 9 });
    assert.deepEqual(
      charges.map(({ policy: { id }, cost }) => [id, cost]),
      [
        ['r', 7],
        ['u', 9],
        ['k', 7],
      ],
    );
  });

  it('say which requests they count, so that a lost window can be rebuilt', () => {
    const at = { targetType: 'lane', targetId: 'l1' } as const;
    const organized = organization([], { userPolicies: [budget('user', 'u', at)] });
    const caller = { userId: 'anne', keyPolicies: [budget('api_key', 'k', at)] };
    const where = { scopeType: 'lane', scopeId: 'l1' };
    assert.deepEqual(
      chargesAt(organized, caller, 'fast', 'e1').map(({ policy: { counts } }) => counts),
      [
        { userId: 'anne', keyId: null, ...where },
        { userId: null, keyId: 'k1', ...where },
      ],
    );
  });

  it('that move to another target start a new counter there', () => {
    const idAt = (targetId: string) => {
      const at = { targetType: 'lane', targetId } as const;
      const organized = organization([], { userPolicies: [budget('user', 'u', at)] });
      return chargesAt(organized, anne, targetId === 'l1' ? 'fast' : 'slow', 'e1')[0]?.policy.id;
    };
    assert.notEqual(idAt('l1'), idAt('l2'));
    assert.equal(idAt('l1'), idAt('l1'));
  });

  it('are resolved once per key and route, and again for another list or snapshot', () => {
    const caller = { userId: 'anne', keyPolicies: [budget('api_key', 'k', { limitValue: 5 })] };
    const organized = organization([policy('r')], { userPolicies: [budget('user', 'u')] });
    const again = (by: LimitedCaller, of = organized) => chargesAt(of, by, 'gpt', 'e1');
    assert.equal(again(caller), again({ ...caller }));
    assert.equal(again(anne), again({ ...anne }));
    const lowered = { ...caller, keyPolicies: [budget('api_key', 'k', { limitValue: 4 })] };
    assert.deepEqual(
      again(lowered).map(({ policy: { limit } }) => limit),
      [100, 10, 4],
    );
    const other = organization([policy('r')], { userPolicies: [budget('user', 'u', { limitValue: 3 })] });
    assert.deepEqual(
      again(caller, other).map(({ policy: { limit } }) => limit),
      [100, 3, 5],
    );
  });
});
