import type { LimitMetric, LimitPeriod } from '@relay/contract';
import type { AppliedLimit } from '../../domain/limits/limit.ts';
import { EVERY_REQUEST } from '../../domain/limits/limits.fixture.ts';
import type { LanePriority } from '../../domain/snapshot.ts';
import type { AdmissionAnswer, AdmissionAsk, CandidateAsk, Release } from '../engine.ts';
import { createMemoryEngine, type MemoryEngine } from './engine.ts';

export const ORGANIZATION = 'organization';
const LEASE_MS = 3_600_000;

export function limitOf(id: string, metric: LimitMetric, period: LimitPeriod, limit: number): AppliedLimit {
  return { id, metric, period, limit, counts: EVERY_REQUEST };
}

/** One candidate that is charged to these limits; a cost of 1 unless it is given. */
export function candidate(
  limits: readonly AppliedLimit[],
  over: { endpointId?: string; paced?: boolean; cost?: number } = {},
): CandidateAsk {
  const { endpointId = 'endpoint', paced = true, cost = 1 } = over;
  const costOf = ({ metric }: AppliedLimit) => (metric === 'tokens' || metric === 'spend' ? cost : 1);
  return { endpointId, paced, charges: limits.map((policy) => ({ policy, cost: costOf(policy) })) };
}

export interface Arrival {
  readonly candidates: readonly CandidateAsk[];
  readonly waitMsMax?: number;
  readonly caller?: string;
  readonly lane?: string;
  readonly priority?: LanePriority;
  /** Hangs up after this time if it still waits. */
  readonly patienceMs?: number;
  /** How long it is in flight. */
  readonly heldMs?: number;
  /** What it used in the end, as a share of its estimate. */
  readonly usedShare?: number;
  readonly over?: Partial<AdmissionAsk>;
  readonly ended?: (how: 'served' | 'refused' | 'left') => void;
}

export interface Outcome {
  readonly operationId: string;
  readonly askedMs: number;
  answer: AdmissionAnswer | null;
  release: Release | null;
  /** When it was dispatched; null while it waits, and if it never was. */
  servedMs: number | null;
  left: boolean;
}

/** For tests: the engine under a clock of its own, with clients and a process that moves the line when it asked for it. */
export interface LineWorld {
  readonly engine: MemoryEngine;
  readonly outcomes: Map<string, Outcome>;
  nowMs: number;
  arrive(arrival: Arrival): Promise<Outcome>;
  at(atMs: number, run: () => unknown): void;
  /** Lets time pass. */
  run(untilMs: number): Promise<void>;
  /** Dispatches, in milliseconds since `fromMs`. */
  served(fromMs?: number): number[];
}

export function createLineWorld(
  startMs: number,
  options: { mixedClasses?: boolean; frozen?: { fromMs: number; untilMs: number } } = {},
): LineWorld {
  let stepMs: number | null = null;
  let serial = 0;
  const arrivals = new Map<string, Arrival>();
  const events: { atMs: number; run: () => unknown }[] = [];
  const world: LineWorld = {
    engine: createMemoryEngine({
      clock: { nowMs: () => world.nowMs },
      append: () => undefined,
      appendExpired: () => undefined,
      line: {
        released,
        next: (_, inMs) => {
          stepMs = inMs === null ? null : world.nowMs + inMs;
        },
        missed: () => undefined,
      },
    }),
    outcomes: new Map(),
    nowMs: startMs,
    async arrive(arrival) {
      const ask = askOf(arrival);
      const outcome: Outcome = {
        operationId: ask.operationId,
        askedMs: world.nowMs,
        answer: null,
        release: null,
        servedMs: null,
        left: false,
      };
      world.outcomes.set(ask.operationId, outcome);
      arrivals.set(ask.operationId, arrival);
      outcome.answer = await world.engine.admit(ask);
      if (outcome.answer.kind === 'admitted') sent(outcome, outcome.answer.candidate);
      if (outcome.answer.kind === 'refused') arrival.ended?.('refused');
      if (outcome.answer.kind === 'wait' && arrival.patienceMs !== undefined)
        world.at(world.nowMs + arrival.patienceMs, () => leave(outcome));
      return outcome;
    },
    at(atMs, run) {
      let index = events.length;
      while (index > 0 && (events[index - 1]?.atMs ?? 0) > atMs) index -= 1;
      events.splice(index, 0, { atMs, run });
    },
    async run(untilMs) {
      for (;;) {
        const eventMs = events[0]?.atMs ?? Number.POSITIVE_INFINITY;
        const nextMs = Math.min(eventMs, stepMs ?? Number.POSITIVE_INFINITY);
        if (nextMs > untilMs) break;
        world.nowMs = Math.max(world.nowMs, thawed(nextMs));
        if (eventMs <= nextMs) await events.shift()?.run();
        else await world.engine.step(ORGANIZATION);
      }
      world.nowMs = untilMs;
    },
    served: (fromMs = startMs) =>
      [...world.outcomes.values()]
        .flatMap(({ servedMs }) => (servedMs === null ? [] : [servedMs - fromMs]))
        .sort((a, b) => a - b),
  };
  return world;

  /** While the store is frozen nothing is answered. */
  function thawed(atMs: number): number {
    const { frozen } = options;
    return frozen !== undefined && atMs >= frozen.fromMs ? Math.max(atMs, frozen.untilMs) : atMs;
  }

  function askOf(arrival: Arrival): AdmissionAsk {
    serial += 1;
    const { candidates, waitMsMax = 0, caller = 'key', lane = 'lane', priority = 'standard' } = arrival;
    return {
      organizationId: ORGANIZATION,
      operationId: `op-${String(serial).padStart(5, '0')}`,
      queue: `${lane}:${caller}`,
      waitersMax: 10_000,
      caller,
      priority,
      mixedClasses: options.mixedClasses ?? false,
      configVersion: 1,
      candidates,
      selection: 'soonest',
      waitMsMax,
      leaseMs: LEASE_MS,
      draft: '',
      ...arrival.over,
    };
  }

  function released(operationId: string, release: Release): void {
    const outcome = world.outcomes.get(operationId);
    if (outcome === undefined) return;
    outcome.release = release;
    if (release.kind === 'admitted') sent(outcome, release.candidate);
    else arrivals.get(operationId)?.ended?.('refused');
  }

  function sent(outcome: Outcome, index: number): void {
    const { operationId } = outcome;
    const arrival = arrivals.get(operationId);
    outcome.servedMs = world.nowMs;
    arrival?.ended?.('served');
    if (arrival?.heldMs === undefined) return;
    const cost =
      arrival.candidates[index]?.charges.find(({ policy }) => policy.metric === 'tokens')?.cost ?? 0;
    const tokens = Math.floor(cost * (arrival.usedShare ?? 1));
    const actual = { dispatched: true, tokens, spendMicros: 0 };
    world.at(world.nowMs + arrival.heldMs, () =>
      world.engine.settle({ organizationId: ORGANIZATION, operationId, actual, record: '' }),
    );
  }

  async function leave(outcome: Outcome): Promise<void> {
    if (outcome.servedMs !== null || outcome.release !== null) return;
    outcome.left = true;
    await world.engine.void(ORGANIZATION, outcome.operationId);
    arrivals.get(outcome.operationId)?.ended?.('left');
  }
}
