import type { AppliedLimit } from '../domain/limits/limit.ts';
import { METRICS } from '../domain/limits/metric.ts';
import { RelayError } from '../domain/relay-error.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import type {
  Actual,
  AdmissionAsk,
  AdmissionEngine,
  CandidateAsk,
  DeskAnswer,
  DeskAsk,
  Opening,
  Refusal,
} from './engine.ts';
import type { Journal } from './journal.ts';
import { createLeaseKeeper, LEASE_MS } from './lease-keeper.ts';
import { type FlowsAsk, flowsOf, type LiveFlow } from './live-flows.ts';
import { countLive, type LiveOperations, remember } from './live-operations.ts';
import { COOLDOWN_MS_MAX, type LocalCooldowns } from './local-cooldowns.ts';
import { createRebuildWindows, type RebuildWindows } from './rebuild-windows.ts';
import { concurrencyRefusal } from './refusal.ts';
import { createRunningTimes, type RunningTimes } from './running-times.ts';
import { createSettlements } from './settlements.ts';

const REBUILDS_MAX = 3;
const WARN_EVERY_MS = 10_000;

export interface DeskDeps {
  readonly engine: AdmissionEngine;
  /** Admits requests without limits while the engine is unavailable. */
  readonly local: LocalCooldowns;
  /** Takes the record of a request that was never admitted. */
  readonly append: (organizationId: string, record: string) => void;
  readonly journal: Journal;
  /** Reads calendar windows that the engine does not know from the ledger. */
  readonly openings: (organizationId: string, limits: readonly AppliedLimit[]) => Promise<Opening[]>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * What the data plane uses of the limits engine. Every dispatched request has a lease at the engine or, while the engine is
 * unavailable and nothing would be charged, a draft in the journal, so that it gets its ledger row even if this process dies.
 */
export interface AdmissionDesk {
  admit(ask: DeskAsk): Promise<DeskAnswer>;
  /** Gives up the slot of a request that was not dispatched, such as after a disconnect. */
  void(organizationId: string, operationId: string): void;
  /** Never blocks or fails a request; the journal takes what the store does not. */
  settle(organizationId: string, operationId: string, actual: Actual, record: string): void;
  /** The refusal of a request that is in line for this concurrency limit when its wait budget ends. */
  refuseInLine(organizationId: string, policyId: string): Refusal;
  /** Sets what `woken` calls for an operation in line. */
  onWake(operationId: string, wake: (() => void) | null): void;
  woken(operationId: string): void;
  /** Wakes everything that waits, so that a process that stops does not wait with it. */
  wakeAll(): void;
  penalize(organizationId: string, endpointId: string, untilMs: number): void;
  cooldownUntilMs(endpointId: string): number | null;
  /** Requests of this process that wait for capacity, and those that have it. */
  counts(): { readonly waiting: number; readonly dispatched: number };
  /** The same by lane and endpoint, of one organization. */
  flows(ask: FlowsAsk): LiveFlow[];
  start(): void;
  /** Waits for settlements in flight; returns how many are left. */
  stop(timeoutMs: number): Promise<number>;
}

export function createDesk(deps: DeskDeps): AdmissionDesk {
  const { engine, clock, log } = deps;
  const live: LiveOperations = new Map();
  const rebuild = createRebuildWindows(deps);
  const keeper = createLeaseKeeper({ engine, live, rebuild, clock, log });
  const warn = warnOccasionally(clock, log);
  const settlements = createSettlements({ engine, journal: deps.journal, clock, warn });
  const running = createRunningTimes();
  const parts = { ...deps, live, rebuild, running };

  return {
    async admit(given) {
      const ask = { ...given, leaseMs: LEASE_MS };
      try {
        return await askEngine(parts, ask);
      } catch (error) {
        if (hasCharges(ask.candidates)) {
          warn(error, 'limits cannot be checked');
          throw asUnavailable(error);
        }
        warn(error, 'requests without a limit are served without the store');
        return admitAlone(parts, ask);
      }
    },
    void(organizationId, operationId) {
      const found = live.get(operationId);
      if (found === undefined) return;
      running.ended(operationId, clock.monotonicMs());
      // An operation that was sent, or is in the journal, is settled later.
      if (!found.sent && !found.journaled) live.delete(operationId);
      engine.void(organizationId, operationId).catch((error: unknown) => {
        warn(error, 'a slot could not be given back; it ends with its lease');
      });
    },
    settle(organizationId, operationId, actual, record) {
      const found = live.get(operationId);
      live.delete(operationId);
      running.ended(operationId, clock.monotonicMs());
      const settlement = { organizationId, operationId, actual, record };
      if (found === undefined) deps.append(organizationId, record);
      else if (found.journaled) deps.journal.settlement(settlement);
      else settlements.send(settlement);
    },
    refuseInLine: (organizationId, policyId) => refuseForConcurrency(parts, organizationId, policyId),
    onWake(operationId, wake) {
      const found = live.get(operationId);
      if (found !== undefined) found.wake = wake;
    },
    woken: (operationId) => live.get(operationId)?.wake?.(),
    wakeAll() {
      for (const { wake } of live.values()) wake?.();
    },
    penalize(organizationId, endpointId, untilMs) {
      deps.local.penalize(endpointId, untilMs);
      const forMs = Math.min(COOLDOWN_MS_MAX, Math.max(1, untilMs - clock.nowMs()));
      engine.penalize(organizationId, endpointId, forMs).catch((error: unknown) => {
        warn(error, 'a cooldown was not announced');
      });
    },
    cooldownUntilMs: (endpointId) => deps.local.cooldownUntilMs(endpointId),
    counts: () => countLive(live),
    flows: (ask) => flowsOf(live.values(), ask, clock.monotonicMs()),
    start: keeper.start,
    stop(timeoutMs) {
      keeper.stop();
      return settlements.drain(timeoutMs);
    },
  };
}

interface Parts extends DeskDeps {
  readonly live: LiveOperations;
  readonly rebuild: RebuildWindows;
  readonly running: RunningTimes;
}

async function askEngine(parts: Parts, ask: AdmissionAsk): Promise<DeskAnswer> {
  const { engine, live, rebuild, clock } = parts;
  try {
    for (let attempt = 0; attempt < REBUILDS_MAX; attempt += 1) {
      const answer = await engine.admit(ask);
      if (answer.kind !== 'rebuild') {
        const nowMs = clock.monotonicMs();
        remember(live, ask, answer, nowMs);
        return noteRunning(parts, ask, answer, nowMs);
      }
      await rebuild(ask, answer.policyIds);
    }
  } catch (error) {
    // The engine may have reserved capacity although its answer was lost. Settling the operation gives it back.
    if (!live.has(ask.operationId))
      remember(live, ask, { kind: 'wait', candidate: 0, waitMs: 0, policyId: null }, clock.monotonicMs());
    throw error;
  }
  throw new RelayError('policy_unavailable', { internal: 'windows stay unknown after they were rebuilt' });
}

/** A refusal for lack of concurrency says when a unit may be free, which the engine does not know. */
function noteRunning(parts: Parts, ask: AdmissionAsk, answer: DeskAnswer, nowMs: number): DeskAnswer {
  parts.running.noted(ask, answer, nowMs);
  if (answer.kind !== 'refused' || answer.policyId === null || !isConcurrency(ask, answer.policyId))
    return answer;
  return refuseForConcurrency(parts, ask.organizationId, answer.policyId);
}

function refuseForConcurrency({ running, clock }: Parts, organizationId: string, policyId: string): Refusal {
  return concurrencyRefusal(policyId, running.freeInMs(organizationId, policyId, clock.monotonicMs()));
}

function isConcurrency({ candidates }: AdmissionAsk, policyId: string): boolean {
  const charges = candidates.flatMap((candidate) => candidate.charges);
  return charges.some(({ policy }) => policy.id === policyId && METRICS[policy.metric].held);
}

/** Admits without the engine: this process knows the cooldowns, and the journal replaces the lease. */
function admitAlone({ live, local, journal, clock }: Parts, ask: AdmissionAsk): DeskAnswer {
  const answer = local.admit(ask);
  if (answer.kind === 'refused') return answer;
  if (answer.kind === 'admitted') {
    const { organizationId, operationId, draft } = ask;
    journal.draft({ organizationId, operationId, candidate: answer.candidate, draft }, live.size);
  }
  const known = remember(live, ask, answer, clock.monotonicMs());
  // The next heartbeat extends or restores the lease as soon as the engine answers again.
  known.leasedMs = Number.NEGATIVE_INFINITY;
  known.journaled ||= answer.kind === 'admitted';
  return answer;
}

/** An outage affects every request; one line per interval is enough. */
function warnOccasionally(clock: Clock, log: Log): (error: unknown, message: string) => void {
  let warnedMs = Number.NEGATIVE_INFINITY;
  return (error, message) => {
    const nowMs = clock.monotonicMs();
    if (nowMs - warnedMs < WARN_EVERY_MS) return;
    warnedMs = nowMs;
    log.warn({ err: error }, message);
  };
}

function hasCharges(candidates: readonly CandidateAsk[]): boolean {
  return candidates.some(({ charges }) => charges.length > 0);
}

/** A limit that cannot be checked rejects the request, whether the store is unavailable or refuses the script. */
function asUnavailable(error: unknown): unknown {
  if (error instanceof RelayError && error.code !== 'store_unavailable') return error;
  const internal = error instanceof Error ? error.message : 'the engine failed';
  return new RelayError('policy_unavailable', { cause: error, internal });
}
