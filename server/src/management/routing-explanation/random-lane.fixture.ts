import assert from 'node:assert/strict';
import { type LimitMetric, type LimitPeriod, limitMetrics } from '@relay/contract';
import fc from 'fast-check';
import { NOBODY, SOMEBODY } from '../../admission/ask.fixture.ts';
import { windowStartMs } from '../../admission/calendar-window.ts';
import type { AdmissionAsk, AdmissionEngine, Release } from '../../admission/engine.ts';
import { createMemoryEngine } from '../../admission/memory/engine.ts';
import { boundEstimate } from '../../domain/limits/bound-estimate.ts';
import type { AppliedLimit } from '../../domain/limits/limit.ts';
import { estimatedCharges, type LimitedCaller } from '../../domain/limits/limits.ts';
import { METRICS } from '../../domain/limits/metric.ts';
import { isSliding } from '../../domain/limits/period.ts';
import { routingTableOf } from '../../domain/routing/routing.ts';
import { credential, endpoint, lane, member, provider, snapshot } from '../../domain/snapshot.fixture.ts';
import type { LimitPolicy, OrganizationSnapshot } from '../../domain/snapshot.ts';
import { AskedRequest } from '../../protocols/asked-request.ts';
import { protocols } from '../../protocols/index.ts';
import type { ExplainedRequest } from './explain-request.ts';

export const NOW_MS = Date.UTC(2027, 0, 15, 12, 30, 0, 123);
export const CALLER: LimitedCaller = { userId: 'user', keyPolicies: [] };
/** The id and the name of the drawn lane. */
export const LANE = 'lane';
const ORGANIZATION = 'organization';
const STEPS_MAX = 10_000;
const PERIODS: readonly LimitPeriod[] = ['second', 'minute', 'hour', 'day', 'week', 'month'];

interface RandomLimit {
  readonly metric: LimitMetric;
  readonly period: LimitPeriod;
  /** 0: the organization, 1: the lane, from 2: one of its endpoints. */
  readonly scope: number;
  readonly limit: number;
  readonly used: number;
}

/** A lane whose endpoints cool down, are limited and partly used, and a request for it. */
export interface RandomLane {
  readonly cooldownsMs: readonly number[];
  readonly limits: readonly RandomLimit[];
  readonly selection: 'preferred' | 'soonest';
  readonly allowFallback: boolean;
  readonly maxWaitMs: number;
  readonly estimate: { readonly inputTokens: number; readonly outputTokens: number };
  readonly outputCap: number | null;
}

const randomLimit: fc.Arbitrary<RandomLimit> = fc
  .record({
    metric: fc.constantFrom(...limitMetrics),
    period: fc.constantFrom(...PERIODS),
    scope: fc.nat({ max: 5 }),
    limit: fc.oneof(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 1, max: 900 })),
    used: fc.nat({ max: 900 }),
  })
  .map((drawn) => {
    const { held, quantity } = METRICS[drawn.metric];
    const units = drawn.limit % 5;
    if (held) return { ...drawn, period: 'none' as const, limit: units, used: drawn.used % (units + 1) };
    if (!isSliding(drawn.period)) return drawn;
    // The explanation estimates when a short window frees up. It is exact where the window is empty or holds one request.
    if (quantity === 'requests' && drawn.used % 2 === 0) return { ...drawn, limit: 1, used: 1 };
    return { ...drawn, used: 0 };
  });

export const randomLane: fc.Arbitrary<RandomLane> = fc.record({
  cooldownsMs: fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 120_000 })), {
    minLength: 1,
    maxLength: 4,
  }),
  limits: fc.array(randomLimit, { maxLength: 6 }),
  selection: fc.constantFrom('preferred' as const, 'soonest' as const),
  allowFallback: fc.boolean(),
  maxWaitMs: fc.constantFrom(0, 500, 10_000, 40_000, 3_600_000),
  estimate: fc.record({ inputTokens: fc.nat({ max: 300 }), outputTokens: fc.nat({ max: 300 }) }),
  outputCap: fc.constantFrom(null, 300),
});

export function snapshotOf(drawn: RandomLane): OrganizationSnapshot {
  const ids = drawn.cooldownsMs.map((_, index) => `e${index}`);
  const limitPolicies = drawn.limits.map(({ metric, period, scope, limit }, index): LimitPolicy => {
    const endpointId = ids[scope - 2];
    const at =
      endpointId !== undefined
        ? { scopeType: 'endpoint' as const, scopeId: endpointId }
        : scope === 1
          ? { scopeType: 'lane' as const, scopeId: LANE }
          : { scopeType: 'global' as const, scopeId: null };
    const rule = { metric, period, limitValue: limit, unpriced: 'allow' as const };
    return { id: `limit-${index}`, ...at, ...rule, enabled: true };
  });
  const { selection, allowFallback, maxWaitMs } = drawn;
  const pricing = {
    inputCostMicrosPer1mTokens: 1_000_000,
    outputCostMicrosPer1mTokens: 2_000_000,
    cachedInputCostMicrosPer1mTokens: null,
    flatRequestCostMicros: 0,
  };
  return {
    ...snapshot({
      providers: [provider('p')],
      credentials: [credential('c', 'p')],
      endpoints: ids.map((id) => endpoint(id, 'p', `model-${id}`, { pacing: false })),
      lanes: [lane(LANE, { selection, allowFallback, defaultMaxWaitMs: maxWaitMs })],
      memberships: ids.map((id, rank) => member(LANE, id, rank)),
      limitPolicies,
    }),
    organizationId: ORGANIZATION,
    // The last endpoint has no price, so limits on spend do not count it.
    pricing: new Map(ids.slice(0, -1).map((id) => [id, pricing])),
  };
}

export function requestOf({ estimate, outputCap }: RandomLane): ExplainedRequest {
  const asked = new AskedRequest(protocols.chat, { members: [], settings: {} }, () => ({}));
  return { asked, model: LANE, streaming: false, estimate, outputCap, typicalOutputTokens: 256 };
}

/** What the data plane would ask the engine for this request. */
export function askOf(organization: OrganizationSnapshot, drawn: RandomLane): AdmissionAsk {
  const route = routingTableOf(organization).resolve(LANE);
  assert.ok(route);
  const candidates = route.members.map(({ candidate }) => candidate);
  const { estimate: guess, outputCap } = drawn;
  const estimate = boundEstimate(organization, CALLER, route, candidates, outputCap, guess);
  return {
    organizationId: ORGANIZATION,
    operationId: 'asked',
    queue: 'queue',
    waitersMax: 10,
    ...SOMEBODY,
    candidates: candidates.map((candidate) => ({
      endpointId: candidate.endpoint.id,
      paced: candidate.endpoint.pacing,
      charges: estimatedCharges(organization, CALLER, route, candidate, estimate, null),
    })),
    selection: route.selection,
    waitMsMax: route.maxWaitMs,
    leaseMs: 20_000,
    draft: '{}',
  };
}

/** An engine in the drawn state: endpoints cool down, windows are used and units of concurrency are held. */
export interface DrawnEngine extends Pick<AdmissionEngine, 'admit' | 'usage'> {
  /** Lets time pass until the line has decided about the waiter, and tells how long that took. */
  decided(operationId: string): Promise<{ readonly release: Release; readonly afterMs: number }>;
}

export async function engineOf(drawn: RandomLane, ask: AdmissionAsk): Promise<DrawnEngine> {
  let nowMs = NOW_MS;
  let nextMs: number | null = null;
  const releases = new Map<string, Release>();
  const engine = createMemoryEngine({
    clock: { nowMs: () => nowMs },
    append: () => undefined,
    appendExpired: () => undefined,
    line: {
      ...NOBODY,
      released: (operationId, release) => void releases.set(operationId, release),
      next(_organizationId, inMs) {
        nextMs = inMs;
      },
    },
  });
  for (const [index, forMs] of drawn.cooldownsMs.entries())
    if (forMs > 0) await engine.penalize(ORGANIZATION, `e${index}`, forMs);
  const limits = new Map<string, AppliedLimit>();
  for (const { charges } of ask.candidates) for (const { policy } of charges) limits.set(policy.id, policy);
  for (const policy of limits.values()) {
    const used = drawn.limits[Number(/^limit-(\d+)/.exec(policy.id)?.[1])]?.used ?? 0;
    if (METRICS[policy.metric].held) await hold(engine, policy, used);
    else await engine.initialize(ORGANIZATION, [{ policy, startMs: startOf(policy), amount: used }]);
  }
  return {
    admit: engine.admit,
    usage: engine.usage,
    async decided(operationId) {
      for (let step = 0; step < STEPS_MAX; step += 1) {
        const release = releases.get(operationId);
        if (release !== undefined) return { release, afterMs: nowMs - NOW_MS };
        assert.ok(nextMs !== null, 'nobody moves the line');
        nowMs += Math.max(1, Math.ceil(nextMs));
        await engine.step(ORGANIZATION);
        await Promise.resolve();
      }
      throw new Error('the line does not end');
    },
  };
}

function startOf({ period }: AppliedLimit): number {
  return period === 'none' || isSliding(period) ? NOW_MS - 400 : windowStartMs(period, NOW_MS);
}

async function hold(engine: AdmissionEngine, policy: AppliedLimit, units: number): Promise<void> {
  for (let unit = 0; unit < units; unit += 1) {
    const { kind } = await engine.admit({
      organizationId: ORGANIZATION,
      operationId: `${policy.id}-${unit}`,
      queue: `${policy.id}-${unit}`,
      waitersMax: 1,
      ...SOMEBODY,
      candidates: [{ endpointId: 'elsewhere', paced: false, charges: [{ policy, cost: 1 }] }],
      selection: 'preferred',
      waitMsMax: 0,
      leaseMs: 20_000,
      draft: '{}',
    });
    assert.equal(kind, 'admitted');
  }
}
