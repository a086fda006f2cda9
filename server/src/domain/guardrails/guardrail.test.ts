import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { finish } from '../../kit/slices.ts';
import { effectiveGuardrails, prepareGuardrails } from './effective-guardrails.ts';
import { guardrail } from './guardrail.fixture.ts';
import { type GuardrailBinding, inOrder } from './guardrail.ts';

const lane: GuardrailBinding = { targetType: 'lane', targetId: 'l' };
const provider: GuardrailBinding = { targetType: 'provider', targetId: 'p' };
const endpoint: GuardrailBinding = { targetType: 'endpoint', targetId: 'e' };
const candidate = { providerId: 'p', endpointId: 'e' };

describe('the effective guardrails', () => {
  const all = [
    guardrail('everywhere'),
    guardrail('lane', { bindings: [lane] }),
    guardrail('provider', { bindings: [provider] }),
    guardrail('endpoint', { bindings: [endpoint] }),
    guardrail('thrice', { bindings: [provider, lane, endpoint] }),
    guardrail('stageless', { preDispatch: false, postResponse: false }),
  ];
  const idsAt = (laneId: string | null, at: typeof candidate | null) =>
    effectiveGuardrails(all, { laneId, candidate: at }).map(({ id }) => id);

  it('are those of everything and of the lane while no candidate is known', () => {
    assert.deepEqual(idsAt('l', null), ['everywhere', 'lane', 'thrice']);
    assert.deepEqual(idsAt(null, null), ['everywhere']);
  });

  it('are those of the provider and the endpoint too at a candidate, each once', () => {
    assert.deepEqual(idsAt('l', candidate), ['everywhere', 'lane', 'provider', 'endpoint', 'thrice']);
    assert.deepEqual(idsAt('other', { providerId: 'p', endpointId: 'other' }), [
      'everywhere',
      'provider',
      'thrice',
    ]);
  });

  it('are found without looking at what else guardrails are bound to', () => {
    let looks = 0;
    const elsewhere = (targetId: string): GuardrailBinding => ({
      get targetType() {
        looks += 1;
        return 'lane' as const;
      },
      targetId,
    });
    const others = Array.from({ length: 1_000 }, (_, index) => elsewhere(`other ${index}`));
    const list = [guardrail('far', { bindings: others }), guardrail('near', { bindings: [...others, lane] })];
    finish(prepareGuardrails(list));
    looks = 0;
    const found = effectiveGuardrails(list, { laneId: 'l', candidate });
    assert.deepEqual([found.map(({ id }) => id), looks], [['near'], 0]);
  });

  it('are asked by priority, lower first, then by id', () => {
    const listed = [guardrail('c'), guardrail('z', { priority: -5 }), guardrail('b', { priority: 100 })];
    assert.deepEqual(
      inOrder(listed).map(({ id }) => id),
      ['z', 'b', 'c'],
    );
  });
});
