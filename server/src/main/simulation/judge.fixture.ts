import type { AdmissionAnswer, AdmissionAsk } from '../../admission/engine.ts';
import type { Charge } from '../../domain/limits/limit.ts';
import { judgeCounters } from './judge-counters.fixture.ts';
import { judgeLedger } from './judge-ledger.fixture.ts';
import { judgeWindows } from './judge-windows.fixture.ts';
import type { Arrival, JudgeDeps, Seen } from './seen.fixture.ts';

/** Collects what happens, and says at the end which promises were broken. */
export interface Judge {
  arrived(arrival: Arrival): void;
  asked(ask: AdmissionAsk): void;
  answered(ask: AdmissionAsk, answer: AdmissionAnswer): void;
  fault(name: string, fromMs: number, toMs: number): void;
  storeLost(): void;
  logged(line: string): void;
  note(finding: string): void;
  findings(): Promise<string[]>;
  seen(): Seen;
}

export function createJudge(deps: JudgeDeps): Judge {
  const { time } = deps;
  const seen: Seen = {
    arrivals: new Map(),
    charges: new Map(),
    promises: [],
    unheard: new Set(),
    faults: [],
    lossesMs: [],
  };
  const found: string[] = [];
  return {
    seen: () => seen,
    arrived: (arrival) => void seen.arrivals.set(arrival.requestId, arrival),
    asked({ operationId, candidates }) {
      const known = seen.charges.get(operationId) ?? new Map<string, readonly Charge[]>();
      for (const { endpointId, charges } of candidates) known.set(endpointId, charges);
      seen.charges.set(operationId, known);
    },
    answered({ operationId }, answer) {
      if (answer.kind !== 'wait' || !answer.firm) return;
      const askedMs = time.nowMs();
      seen.promises.push({ operationId, askedMs, deadlineMs: askedMs + answer.withinMs });
    },
    fault: (name, fromMs, toMs) => void seen.faults.push({ name, fromMs, toMs }),
    storeLost() {
      seen.lossesMs.push(time.nowMs());
    },
    logged(line) {
      if (line.includes('"defect"')) found.push(`defect: ${line.slice(0, 300)}`);
    },
    note: (finding) => void found.push(finding),
    async findings() {
      return [
        ...found,
        ...judgeAnswers(seen),
        ...judgeWindows(deps, seen),
        ...judgeLedger(deps, seen),
        ...(await judgeCounters(deps, seen)),
        ...judgePromises(deps, seen),
        ...judgeLeases(deps, seen),
      ];
    },
  };
}

/** Every request that arrived has one end at its client, and got one answer at most. */
function judgeAnswers({ arrivals }: Seen): string[] {
  return [...arrivals.values()].flatMap(({ requestId, connection }) => {
    const faults = connection.faults.map((fault) => `answer: ${requestId} got ${fault}`);
    return connection.ended() === null ? [...faults, `answer: ${requestId} never ended`] : faults;
  });
}

/** How long after its deadline a dispatch may leave the gateway. */
const LATE_MS = 60;
/** A fault has effects for as long after it is over. */
const AFTER_FAULT_MS = 3_000;
/** Longer than the provider's pauses. */
const PAUSE_MS = 30_000;

/** A request that was firmly let in to wait went in time, unless it left or a fault hit. */
function judgePromises({ provider }: JudgeDeps, seen: Seen): string[] {
  const { promises, arrivals, faults, unheard } = seen;
  const pausedMs = provider.log.filter(({ status }) => status === 429).map(({ atMs }) => atMs);
  return promises.flatMap(({ operationId, askedMs, deadlineMs }) => {
    const end = arrivals.get(operationId)?.connection.ended();
    if (end?.how === 'left' || end?.how === 'reset') return [];
    const went = provider.sent.some(
      (entry) =>
        entry.requestId === operationId && entry.atMs >= askedMs && entry.atMs <= deadlineMs + LATE_MS,
    );
    const hit = faults.some(({ fromMs, toMs }) => fromMs <= deadlineMs && toMs + AFTER_FAULT_MS >= askedMs);
    const paused = pausedMs.some((atMs) => atMs <= deadlineMs && atMs + PAUSE_MS >= askedMs);
    if (went || hit || paused || unheard.has(operationId)) return [];
    return [`in time: ${operationId} was accepted and not served in time`];
  });
}

/** Between a fault that keeps heartbeats from the store and the expiry that follows from it. */
const LEASE_MS = 25_000;

/** No lease expires while its gateway lives and can extend it, or has ended the request. */
function judgeLeases({ store }: JudgeDeps, { arrivals, faults }: Seen): string[] {
  return [...store.expired].flatMap(([operationId, atMs]) => {
    if (arrivals.get(operationId)?.by.state === 'dead') return [];
    const hit = faults.some(({ fromMs, toMs }) => fromMs <= atMs && toMs + LEASE_MS >= atMs);
    return hit ? [] : [`lease: that of ${operationId} expired`];
  });
}
