import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Operation } from '@relay/contract';
import { concurrencyRefusal } from '../../admission/refusal.ts';
import { guardrail } from '../../domain/guardrails/guardrail.fixture.ts';
import type { GuardrailBinding } from '../../domain/guardrails/guardrail.ts';
import { routingTableOf } from '../../domain/routing/routing.ts';
import { credential, endpoint, lane, member, provider, snapshot } from '../../domain/snapshot.fixture.ts';
import { AskedRequest } from '../../protocols/asked-request.ts';
import { protocols } from '../../protocols/index.ts';
import { explainRoute } from './explain-route.ts';

const onLane: GuardrailBinding = { targetType: 'lane', targetId: 'fast' };
const onProvider: GuardrailBinding = { targetType: 'provider', targetId: 'p' };
const onSecond: GuardrailBinding = { targetType: 'endpoint', targetId: 'b' };
const onAnother: GuardrailBinding = { targetType: 'endpoint', targetId: 'elsewhere' };

const organization = snapshot({
  providers: [provider('p')],
  credentials: [credential('key', 'p')],
  endpoints: [endpoint('a', 'p', 'm-a'), endpoint('b', 'p', 'm-b')],
  lanes: [lane('fast')],
  memberships: [member('fast', 'a', 1), member('fast', 'b', 2)],
  guardrails: [
    guardrail('provider', { priority: 1, bindings: [onProvider], postResponse: true }),
    guardrail('second', { priority: 2, bindings: [onSecond] }),
    guardrail('lane', { priority: 3, bindings: [onAnother, onLane, onProvider] }),
    guardrail('elsewhere', { priority: 4, bindings: [onAnother] }),
  ],
});

function explain(model: string, over: { operation?: Operation; streaming?: boolean } = {}) {
  const { operation = 'chat', streaming = false } = over;
  return explainRoute({
    asked: new AskedRequest(protocols[operation], { members: [], settings: {} }, () => ({})),
    streaming,
    model,
    estimate: { inputTokens: 1, outputTokens: 1 },
    route: routingTableOf(organization).resolve(model),
    namesDisabledLane: false,
    breakers: new Map(),
    placements: { nowMs: 0, byEndpoint: new Map(), reserved: new Map() },
    limitingPolicy: () => null,
    refuseInLine: concurrencyRefusal,
    limitRules: { needsPrice: () => null, hardLimit: () => null },
    pricingOf: () => undefined,
    guardrails: organization.guardrails,
  });
}

describe('the guardrails of an explanation', () => {
  it('are listed in the order in which they run, with their stages and bindings', () => {
    const answer = explain('fast');
    assert.deepEqual(answer.guardrail_ids, ['lane', 'provider', 'second']);
    assert.deepEqual(answer.guardrails, [
      {
        guardrail_id: 'lane',
        stages: ['pre_dispatch'],
        bound_to: [
          { target_type: 'lane', target_id: 'fast' },
          { target_type: 'provider', target_id: 'p' },
        ],
      },
      {
        guardrail_id: 'provider',
        stages: ['pre_dispatch', 'post_response'],
        bound_to: [{ target_type: 'provider', target_id: 'p' }],
      },
      {
        guardrail_id: 'second',
        stages: ['pre_dispatch'],
        bound_to: [{ target_type: 'endpoint', target_id: 'b' }],
      },
    ]);
  });

  it('are listed for each candidate', () => {
    assert.deepEqual(
      explain('fast').candidates.map(({ guardrail_ids }) => guardrail_ids),
      [
        ['lane', 'provider'],
        ['lane', 'provider', 'second'],
      ],
    );
    assert.deepEqual(explain('m-a').guardrail_ids, ['provider', 'lane']);
  });

  it('make streams and embeddings fail with 400', () => {
    const stream = explain('fast', { streaming: true });
    assert.deepEqual([stream.outcome, stream.error_code], ['refuse', 'guardrail_streaming_unsupported']);
    assert.match(stream.reason ?? '', /rejected with 400/);
    const embedding = explain('fast', { operation: 'embeddings' });
    assert.equal(embedding.error_code, 'guardrail_route_kind_unsupported');
    assert.equal(explain('fast').outcome, 'dispatch');
  });
});
