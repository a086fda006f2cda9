import type { AppliedLimit } from '../domain/limits/limit.ts';
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
  SettleAsk,
} from './engine.ts';
import type { Journal } from './journal.ts';
import { createLeaseKeeper, LEASE_MS, type LiveOperation } from './lease-keeper.ts';
import { type FlowsAsk, flowsOf, type LiveFlow } from './live-flows.ts';
import { COOLDOWN_MS_MAX, type LocalCooldowns } from './local-cooldowns.ts';
import { createRebuildWindows } from './rebuild-windows.ts';

const REBUILDS_MAX = 3;
const SAY_EVERY_MS = 10_000;

export interface DeskDeps {
  readonly engine: AdmissionEngine;
  /** Admits requests to which no policy applies while the engine does not answer. */
  readonly local: LocalCooldowns;
  /** Takes the record of a request that was never admitted. */
  readonly append: (organizationId: string, record: string) => void;
  readonly journal: Journal;
  /** What the ledger knows of calendar windows that the engine does not. */
  readonly openings: (organizationId: string, policies: readonly AppliedLimit[]) => Promise<Opening[]>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The data plane's counter in front of the limits engine. Every request that is dispatched has a lease there, or, while the
 * engine does not answer and nothing would be charged, its draft in the journal: whichever process dies, one of them
 * tells of the request. It keeps the leases of this process alive, and makes sure that every settlement arrives.
 */
export interface AdmissionDesk {
  admit(ask: DeskAsk): Promise<DeskAnswer>;
  /** The client left while it waited. */
  void(organizationId: string, operationId: string): void;
  /** Never blocks or fails a request; what the store does not take goes to the journal. */
  settle(organizationId: string, operationId: string, actual: Actual, record: string): void;
  /** Calls back when it is worth asking again for an operation in line. */
  onWake(operationId: string, wake: (() => void) | null): void;
  woken(operationId: string): void;
  penalize(organizationId: string, endpointId: string, untilMs: number): void;
  cooldownUntilMs(endpointId: string): number | null;
  /** Requests of this process that wait for capacity, and those that have it. */
  counts(): { readonly waiting: number; readonly dispatched: number };
  /** The same by lane and endpoint, of one organization. */
  flows(ask: FlowsAsk): LiveFlow[];
  start(): void;
  /** Waits for settlements under way; answers how many stayed behind. */
  stop(timeoutMs: number): Promise<number>;
}

export function createDesk(deps: DeskDeps): AdmissionDesk {
  const { engine, clock, log } = deps;
  const live = new Map<string, LiveOperation>();
  const rebuild = createRebuildWindows(deps);
  const keeper = createLeaseKeeper({ engine, live, rebuild, clock, log });
  let underWay = 0;
  let saidMs = Number.NEGATIVE_INFINITY;

  async function askEngine(ask: AdmissionAsk): Promise<DeskAnswer> {
    try {
      for (let attempt = 0; attempt < REBUILDS_MAX; attempt += 1) {
        const answer = await engine.admit(ask);
        if (answer.kind !== 'rebuild') {
          remember(ask, answer);
          return answer;
        }
        await rebuild(ask, answer.policyIds);
      }
    } catch (error) {
      // An answer that stayed out may still have reserved something; known as live, it is given back when it is settled.
      if (!live.has(ask.operationId))
        remember(ask, { kind: 'wait', candidate: 0, waitMs: 0, policyId: null });
      throw error;
    }
    throw new RelayError('policy_unavailable', { internal: 'windows stay unknown after they were rebuilt' });
  }

  /** Without the engine: cooldowns are known here as well, and the journal stands in for the lease. */
  function admitAlone(ask: AdmissionAsk): DeskAnswer {
    const answer = deps.local.admit(ask);
    if (answer.kind === 'refused') return answer;
    if (answer.kind === 'admitted') {
      const { organizationId, operationId, draft } = ask;
      deps.journal.draft({ organizationId, operationId, candidate: answer.candidate, draft }, live.size);
    }
    const known = remember(ask, answer);
    // If the engine has a lease after all, or comes back, the next heartbeat makes it one that lives.
    known.leasedMs = Number.NEGATIVE_INFINITY;
    known.journaled ||= answer.kind === 'admitted';
    return answer;
  }

  function remember(ask: AdmissionAsk, answer: Exclude<DeskAnswer, { kind: 'refused' }>): LiveOperation;
  function remember(ask: AdmissionAsk, answer: DeskAnswer): LiveOperation | null;
  function remember(ask: AdmissionAsk, answer: DeskAnswer): LiveOperation | null {
    const { operationId, release } = ask;
    const before = live.get(operationId);
    const wasSent = before?.state === 'dispatched' && release?.dispatched === true;
    const sent = wasSent || before?.sent === true;
    if (answer.kind === 'refused') {
      // The engine keeps a lease without charges for whoever was sent, until it is settled.
      if (sent && before !== undefined)
        live.set(operationId, { ...before, ask: uncharged(before.ask), sent });
      else live.delete(operationId);
      return null;
    }
    const { release: _release, ...kept } = ask;
    const nowMs = clock.monotonicMs();
    const state = answer.kind === 'admitted' ? 'dispatched' : 'waiting';
    const known: LiveOperation = {
      ask: kept,
      state,
      candidate: answer.candidate,
      dispatchedMs: nowMs,
      stateSinceMs: before?.state === state ? before.stateSinceMs : nowMs,
      leasedMs: nowMs,
      wake: before?.wake ?? null,
      journaled: before?.journaled ?? false,
      sent,
    };
    live.set(operationId, known);
    return known;
  }

  async function settleAtEngine(settlement: SettleAsk): Promise<void> {
    underWay += 1;
    try {
      await engine.settle(settlement);
    } catch (error) {
      say(error, 'settlements are kept until the store takes them');
      deps.journal.settlement(settlement);
    } finally {
      underWay -= 1;
    }
  }

  /** An outage meets every request; it is said now and then, not for each of them. */
  function say(error: unknown, what: string): void {
    const nowMs = clock.monotonicMs();
    if (nowMs - saidMs < SAY_EVERY_MS) return;
    saidMs = nowMs;
    log.warn({ err: error }, what);
  }

  return {
    async admit(given) {
      const ask = { ...given, leaseMs: LEASE_MS };
      try {
        return await askEngine(ask);
      } catch (error) {
        const charged = hasCharges(ask.candidates);
        say(
          error,
          charged ? 'limits cannot be checked' : 'requests without a limit are served without the store',
        );
        if (charged) throw asUnavailable(error);
        return admitAlone(ask);
      }
    },
    void(organizationId, operationId) {
      const found = live.get(operationId);
      if (found === undefined) return;
      // What was sent, or stands in the journal, is settled all the same.
      if (!found.sent && !found.journaled) live.delete(operationId);
      engine.void(organizationId, operationId).catch((error: unknown) => {
        // The lease ends by itself when it is not extended any more.
        say(error, 'a slot could not be given back; it ends with its lease');
      });
    },
    settle(organizationId, operationId, actual, record) {
      const found = live.get(operationId);
      live.delete(operationId);
      const settlement = { organizationId, operationId, actual, record };
      if (found === undefined) deps.append(organizationId, record);
      else if (found.journaled) deps.journal.settlement(settlement);
      else void settleAtEngine(settlement);
    },
    onWake(operationId, wake) {
      const found = live.get(operationId);
      if (found !== undefined) found.wake = wake;
    },
    woken(operationId) {
      live.get(operationId)?.wake?.();
    },
    penalize(organizationId, endpointId, untilMs) {
      deps.local.penalize(endpointId, untilMs);
      const forMs = Math.min(COOLDOWN_MS_MAX, Math.max(1, untilMs - clock.nowMs()));
      engine.penalize(organizationId, endpointId, forMs).catch((error: unknown) => {
        say(error, 'a cooldown was not announced');
      });
    },
    cooldownUntilMs: (endpointId) => deps.local.cooldownUntilMs(endpointId),
    counts() {
      let waiting = 0;
      for (const { state } of live.values()) if (state === 'waiting') waiting += 1;
      return { waiting, dispatched: live.size - waiting };
    },
    flows: (ask) => flowsOf(live.values(), ask, clock.monotonicMs()),
    start: keeper.start,
    async stop(timeoutMs) {
      const deadlineMs = clock.monotonicMs() + timeoutMs;
      keeper.stop();
      while (underWay > 0 && clock.monotonicMs() < deadlineMs) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return underWay;
    },
  };
}

function hasCharges(candidates: readonly CandidateAsk[]): boolean {
  return candidates.some(({ charges }) => charges.length > 0);
}

function uncharged(ask: AdmissionAsk): AdmissionAsk {
  return { ...ask, candidates: ask.candidates.map((candidate) => ({ ...candidate, charges: [] })) };
}

/** A limit that cannot be checked is not a limit that is met, whether the store is away or refuses the script. */
function asUnavailable(error: unknown): unknown {
  if (error instanceof RelayError && error.code !== 'store_unavailable') return error;
  const internal = error instanceof Error ? error.message : 'the engine failed';
  return new RelayError('policy_unavailable', { cause: error, internal });
}
