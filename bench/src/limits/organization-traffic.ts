import { randomUUID, randomUUIDv7 } from 'node:crypto';
import type { LimitMetric } from '@relay/contract';
import type { EngineAsk, EngineLimit, EngineOpening, EngineSettlement } from './engine-of-checkout.ts';
import { LIMIT_VALUE, POLICIES } from './policies.ts';
import { draftText, recordText } from './request-texts.ts';

/** One organization with candidates of six policies each, and the requests that it sends. */
export interface OrganizationTraffic {
  readonly organizationId: string;
  /** The calendar windows, which the engine wants to know before the first request. */
  readonly openings: readonly EngineOpening[];
  ask(operationId: string): EngineAsk;
  settlement(operationId: string): EngineSettlement;
}

const DAY_MS = 86_400_000;
/** What one request is estimated to take from a limit of each metric. */
const COSTS: Readonly<Record<LimitMetric, number>> = { requests: 1, tokens: 489, spend: 189, concurrency: 1 };
const ACTUAL = { dispatched: true, tokens: 390, spendMicros: 140 };

export function createTraffic(nowMs: number, candidateCount = 2): OrganizationTraffic {
  const organizationId = randomUUIDv7();
  const caller = randomUUID();
  const queue = `${randomUUID()}:${caller}`;
  const shared = POLICIES.map(() => randomUUID());
  const limitAt = (index: number): EngineLimit => {
    const policy = POLICIES[index];
    if (policy === undefined) throw new RangeError(`there is no policy ${index}`);
    const { scope, metric, period } = policy;
    const id = scope === 'global' ? (shared[index] ?? '') : randomUUID();
    return { id, metric, period, limit: LIMIT_VALUE };
  };
  const candidates = Array.from({ length: candidateCount }, () => ({
    endpointId: randomUUID(),
    paced: true,
    charges: POLICIES.map(({ metric }, index) => ({ policy: limitAt(index), cost: COSTS[metric] })),
  }));
  const draft = draftText(
    organizationId,
    candidates.map(({ endpointId }) => endpointId),
  );
  const record = recordText(organizationId);
  const calendar = candidates[0]?.charges.filter(({ policy }) => policy.period === 'day') ?? [];
  return {
    organizationId,
    openings: calendar.map(({ policy }) => ({
      policy,
      startMs: Math.floor(nowMs / DAY_MS) * DAY_MS,
      amount: 5_000_000,
    })),
    ask: (operationId) => ({
      organizationId,
      operationId,
      queue,
      waitersMax: 5_000,
      caller,
      priority: 'standard',
      mixedClasses: false,
      configVersion: 1,
      candidates,
      selection: 'preferred',
      waitMsMax: 5_000,
      leaseMs: 20_000,
      draft: draft(operationId),
    }),
    settlement: (operationId) => ({
      organizationId,
      operationId,
      actual: ACTUAL,
      record: record(operationId),
    }),
  };
}
