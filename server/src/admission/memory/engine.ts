import type { AppliedLimit, Charge } from '../../domain/limits/limit.ts';
import { METRICS } from '../../domain/limits/metric.ts';
import type { Clock } from '../../kit/clock.ts';
import { choose, NEVER_MS, type Placement } from '../choose-candidate.ts';
import type {
  Actual,
  AdmissionAnswer,
  AdmissionAsk,
  AdmissionEngine,
  CandidateAsk,
  SettleAsk,
} from '../engine.ts';
import { RETRY_UNKNOWN_MS, refusal } from '../refusal.ts';
import {
  chargesOf,
  chosenOf,
  comesBefore,
  concurrencyOf,
  fingerprint,
  leaseOf,
  policiesOf,
  triedBefore,
  unknownWindows,
} from './lease.ts';
import { earliest } from './placement.ts';
import { latenessMsMax } from './sliding-window.ts';
import {
  addTo,
  correct,
  emptyState,
  initializeWindows,
  type Lease,
  type OrganizationState,
  post,
  removeFrom,
  type Tried,
  usageOf,
} from './state.ts';

/** How many in line are told at once of free units; each of them, served, tells the next. */
const WAKES_MAX = 8;

export interface MemoryEngineDeps {
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Takes the terminal record of an operation that was settled. */
  readonly append: (settlement: SettleAsk) => void;
  /** Takes the draft of an operation whose lease ran out after it was dispatched. */
  readonly appendExpired: (draft: string, candidate: number) => void;
  /** Concurrency may have freed up and this operation is next in line. */
  readonly wake: (operationId: string) => void;
  /**
   * Until then a short window that was not used yet may hold what a process before this one has dispatched, so it has to be
   * initialized as well. Without it short windows begin empty.
   */
  readonly shortWindowsUnknownUntilMs?: number;
}

export interface MemoryEngine extends AdmissionEngine {
  /** Those of these limits whose windows have to be initialized. */
  unknown(organizationId: string, policies: readonly AppliedLimit[]): AppliedLimit[];
  /** Operations that hold something or wait for it. */
  leases(): number;
}

/**
 * The rules, readable, in one process: what a deployment on one machine runs, and what the Redis engine is held
 * against. Its atomic step is plain code that awaits nothing.
 */
export function createMemoryEngine(deps: MemoryEngineDeps): MemoryEngine {
  const states = new Map<string, OrganizationState>();
  const leases = new Map<string, Lease>();
  let lastMs = 0;

  /** Never backwards, whatever the machine's clock does. */
  function nowMs(): number {
    lastMs = Math.max(lastMs, deps.clock.nowMs());
    return lastMs;
  }

  function shortAreKnown(now: number): boolean {
    return now >= (deps.shortWindowsUnknownUntilMs ?? 0);
  }

  function stateOf(organizationId: string): OrganizationState {
    const known = states.get(organizationId);
    if (known !== undefined) return known;
    const created = emptyState();
    states.set(organizationId, created);
    return created;
  }

  function admit(ask: AdmissionAsk): AdmissionAnswer {
    const now = nowMs();
    const state = stateOf(ask.organizationId);
    const held = leases.get(ask.operationId);
    if (held?.state === 'dispatched') {
      if (ask.release === undefined) return admitted(state, held, now);
    }
    const unknown = unknownWindows(state, policiesOf(ask.candidates), shortAreKnown(now));
    if (unknown.length > 0) return { kind: 'rebuild', policyIds: unknown.map(({ id }) => id) };
    if (held?.state === 'dispatched' && ask.release !== undefined) {
      giveBack(state, ask.operationId, held, ask.release, now);
    }
    if (held?.state === 'waiting') {
      if (keepsItsSlot(state, held, ask, now)) {
        if (held.slotMs > now) return waitFor(held, now, null);
        if (blockedConcurrency(state, ask.operationId, held, chargesOf(held)) === null) {
          held.expiresMs = now + ask.leaseMs;
          return dispatch(state, ask.operationId, held, now);
        }
      }
      giveBack(state, ask.operationId, held, null, now);
    }
    return decide(state, ask, held, now);
  }

  /**
   * A waiter keeps its slot unless the rules have changed since, its endpoint was put into a cooldown, or it comes so late
   * that its charge lies where the provider will not see it.
   */
  function keepsItsSlot(state: OrganizationState, lease: Lease, ask: AdmissionAsk, now: number): boolean {
    const endpointId = lease.candidates[lease.candidate]?.endpointId ?? '';
    const cooldownMs = state.cooldowns.get(endpointId) ?? 0;
    return (
      now - lease.slotMs <= latenessMsMax(chargesOf(lease)) &&
      cooldownMs <= Math.max(now, lease.slotMs) &&
      fingerprint(lease.candidates) === fingerprint(ask.candidates)
    );
  }

  function decide(
    state: OrganizationState,
    ask: AdmissionAsk,
    held: Lease | undefined,
    now: number,
  ): AdmissionAnswer {
    const deadlineMs = now + ask.waitMsMax;
    const arrivedMs = held?.arrivedMs ?? now;
    const placements = ask.candidates.map((each) => place(state, ask, held, each, now, deadlineMs));
    const chosen = choose(ask, placements, now);
    const wasInLine = held?.state === 'line';
    if (wasInLine) leaveLine(state, ask.operationId, held);
    const waits = chosen.kind === 'later' || chosen.kind === 'line';
    const isFull = waits && (state.queues.get(ask.queue)?.size ?? 0) >= ask.waitersMax;
    const tried = triedBefore(held, ask);
    if (chosen.kind === 'refused' || isFull) {
      if (wasInLine) forget(state, ask.operationId, held);
      if (held !== undefined && tried !== null) keepTried(ask.operationId, held, tried, now + ask.leaseMs);
      return chosen.kind === 'refused'
        ? chosen
        : refusal('queue_full', RETRY_UNKNOWN_MS, null, RETRY_UNKNOWN_MS);
    }
    const lease = { ...leaseOf(ask, now, chosen.candidate, chosen.slotMs), arrivedMs, tried };
    leases.set(ask.operationId, lease);
    if (waits) addTo(state.queues, ask.queue, ask.operationId);
    if (chosen.kind === 'line') {
      lease.state = 'line';
      for (const id of concurrencyOf(ask.candidates)) addTo(state.lines, id, ask.operationId);
      return { kind: 'line', candidate: chosen.candidate, policyId: chosen.policyId };
    }
    lease.postings = post(state, chargesOf(lease), lease.slotMs, now);
    const answer: AdmissionAnswer = waits
      ? waitFor(lease, now, placements[lease.candidate]?.boundBy ?? null)
      : dispatch(state, ask.operationId, lease, now);
    // Whoever was in line for several endpoints leaves units behind that the next may take.
    if (wasInLine) wakeNext(state, held);
    return answer;
  }

  /** The earliest moment at which every policy of the candidate has room, and what stood in the way. */
  function place(
    state: OrganizationState,
    ask: AdmissionAsk,
    held: Lease | undefined,
    candidate: CandidateAsk,
    now: number,
    deadlineMs: number,
  ): Placement {
    const exceeding = candidate.charges.find(({ policy, cost }) => cost > policy.limit);
    if (exceeding !== undefined) {
      return { slotMs: NEVER_MS, boundBy: null, exceeds: exceeding.policy.id, blockedBy: null };
    }
    const fromMs = Math.max(
      now,
      state.cooldowns.get(candidate.endpointId) ?? 0,
      slotBefore(state, ask, held),
    );
    // Whoever had a slot was spread out already: if it can go now, pacing does not hold it back again.
    const unused = held?.state === 'dispatched' && ask.release?.dispatched === false;
    const wasPaced = unused || (held?.state === 'waiting' && held.slotMs <= now);
    let found = earliest(state, candidate, fromMs, candidate.paced && !wasPaced);
    if (candidate.paced && wasPaced && found.slotMs > now) found = earliest(state, candidate, fromMs, true);
    // Pacing may delay, but it never makes a request miss its deadline.
    if (candidate.paced && found.slotMs > deadlineMs) found = earliest(state, candidate, fromMs, false);
    const asked = { arrivedMs: held?.arrivedMs ?? now };
    const blockedBy =
      found.slotMs > now ? null : blockedConcurrency(state, ask.operationId, asked, candidate.charges);
    return { ...found, exceeds: null, blockedBy };
  }

  /**
   * Nobody overtakes in his own queue: for one that arrives, the latest slot that is held there; for one that asks again,
   * the slot of whoever came just before it, so that those who came later do not delay it.
   */
  function slotBefore(state: OrganizationState, ask: AdmissionAsk, held: Lease | undefined): number {
    let lastSlotMs = 0;
    let before: { readonly id: string; readonly lease: Lease } | undefined;
    for (const id of state.queues.get(ask.queue) ?? []) {
      const lease = leases.get(id);
      if (id === ask.operationId || lease?.state !== 'waiting') continue;
      lastSlotMs = Math.max(lastSlotMs, lease.slotMs);
      if (held === undefined || !comesBefore(lease, id, held, ask.operationId)) continue;
      if (before === undefined || comesBefore(before.lease, before.id, lease, id)) before = { id, lease };
    }
    return held === undefined ? lastSlotMs : (before?.lease.slotMs ?? 0);
  }

  /** A concurrency policy without a unit for this operation, those ahead in line counted; null when there is none. */
  function blockedConcurrency(
    state: OrganizationState,
    operationId: string,
    asked: { readonly arrivedMs: number },
    charges: readonly Charge[],
  ): string | null {
    for (const { policy } of charges) {
      if (!METRICS[policy.metric].held) continue;
      let ahead = 0;
      for (const id of state.lines.get(policy.id) ?? []) {
        const other = leases.get(id);
        if (other !== undefined && id !== operationId && comesBefore(other, id, asked, operationId))
          ahead += 1;
      }
      if ((state.holders.get(policy.id)?.size ?? 0) + ahead >= policy.limit) return policy.id;
    }
    return null;
  }

  function dispatch(
    state: OrganizationState,
    operationId: string,
    lease: Lease,
    now: number,
  ): AdmissionAnswer {
    lease.state = 'dispatched';
    removeFrom(state.queues, lease.queue, operationId);
    for (const id of concurrencyOf(chosenOf(lease))) addTo(state.holders, id, operationId);
    return admitted(state, lease, now);
  }

  function admitted(state: OrganizationState, lease: Lease, now: number): AdmissionAnswer {
    const windows = chargesOf(lease).map(({ policy }) => {
      const { used, reserved, resetMs } = usageOf(state, policy, now);
      return { policyId: policy.id, used: used + reserved, resetMs };
    });
    return { kind: 'admitted', candidate: lease.candidate, windows };
  }

  /** Gives back what a lease holds and did not use, and forgets it. */
  function giveBack(
    state: OrganizationState,
    operationId: string,
    lease: Lease,
    actual: Actual | null,
    now: number,
  ): void {
    for (const posting of lease.postings) correct(state, posting, actual, now);
    if (lease.state === 'line') leaveLine(state, operationId, lease);
    if (lease.state === 'dispatched') {
      for (const id of concurrencyOf(chosenOf(lease))) removeFrom(state.holders, id, operationId);
    }
    forget(state, operationId, lease);
  }

  function forget(state: OrganizationState, operationId: string, lease: Lease): void {
    removeFrom(state.queues, lease.queue, operationId);
    leases.delete(operationId);
    if (lease.state !== 'waiting') wakeNext(state, lease);
  }

  /** It was sent and holds nothing any more: its lease stays for the draft in it, until it is settled. */
  function keepTried(operationId: string, lease: Lease, tried: Tried, expiresMs: number): void {
    leases.set(operationId, { ...lease, state: 'tried', tried, candidates: [], postings: [], expiresMs });
  }

  function leaveLine(state: OrganizationState, operationId: string, lease: Lease): void {
    for (const id of concurrencyOf(lease.candidates)) removeFrom(state.lines, id, operationId);
    removeFrom(state.queues, lease.queue, operationId);
  }

  function wakeNext(state: OrganizationState, lease: Lease): void {
    const limits = new Map(
      lease.candidates.flatMap(({ charges }) =>
        charges.flatMap(({ policy }) =>
          METRICS[policy.metric].held ? [[policy.id, policy.limit] as const] : [],
        ),
      ),
    );
    for (const [id, limit] of limits) {
      const free = limit - (state.holders.get(id)?.size ?? 0);
      const inLine = [...(state.lines.get(id) ?? [])];
      inLine.sort((a, b) => (comesBefore(leases.get(a), a, leases.get(b), b) ? -1 : 1));
      for (const next of inLine.slice(0, Math.max(0, Math.min(free, WAKES_MAX)))) deps.wake(next);
    }
  }

  return {
    unknown: (organizationId, policies) =>
      unknownWindows(stateOf(organizationId), policies, shortAreKnown(nowMs())),
    leases: () => leases.size,
    admit: async (ask) => admit(ask),
    async settle(settlement) {
      const { organizationId, operationId, actual } = settlement;
      const now = nowMs();
      const lease = leases.get(operationId);
      deps.append(settlement);
      if (lease === undefined) return 'unknown';
      giveBack(stateOf(organizationId), operationId, lease, actual, now);
      return 'settled';
    },
    async void(organizationId, operationId) {
      const now = nowMs();
      const lease = leases.get(operationId);
      if (lease === undefined) return;
      giveBack(stateOf(organizationId), operationId, lease, null, now);
      if (lease.tried !== null) keepTried(operationId, lease, lease.tried, lease.expiresMs);
    },
    async extend(_organizationId, operationIds, leaseMs) {
      const now = nowMs();
      return operationIds.filter((id) => {
        const lease = leases.get(id);
        if (lease !== undefined) lease.expiresMs = Math.max(lease.expiresMs, now + leaseMs);
        return lease === undefined;
      });
    },
    async restore(ask, candidate, agoMs) {
      const now = nowMs();
      const state = stateOf(ask.organizationId);
      if (leases.has(ask.operationId)) return true;
      if (unknownWindows(state, policiesOf(ask.candidates), shortAreKnown(now)).length > 0) return false;
      const lease = leaseOf(ask, now, candidate, now - agoMs);
      leases.set(ask.operationId, lease);
      lease.postings = post(state, chargesOf(lease), lease.slotMs, now);
      dispatch(state, ask.operationId, lease, now);
      return true;
    },
    async penalize(organizationId, endpointId, forMs) {
      const { cooldowns } = stateOf(organizationId);
      cooldowns.set(endpointId, Math.max(nowMs() + forMs, cooldowns.get(endpointId) ?? 0));
    },
    async sweep() {
      const now = nowMs();
      const expired = [...leases].filter(([, lease]) => lease.expiresMs <= now);
      expired.sort(([a, first], [b, second]) => first.expiresMs - second.expiresMs || (a < b ? -1 : 1));
      for (const [operationId, lease] of expired) {
        const state = stateOf(lease.organizationId);
        if (lease.state === 'dispatched') {
          // Nobody can say what it used; its charges stay as they were estimated.
          deps.appendExpired(lease.draft, lease.candidate);
          lease.postings = [];
        } else if (lease.tried !== null) {
          deps.appendExpired(lease.tried.draft, lease.tried.candidate);
        }
        giveBack(state, operationId, lease, null, now);
      }
      return expired.length;
    },
    async initialize(organizationId, openings) {
      const state = stateOf(organizationId);
      initializeWindows(state, openings);
    },
    async usage(organizationId, policies) {
      const now = nowMs();
      const state = stateOf(organizationId);
      return policies.map((policy) => ({ policyId: policy.id, ...usageOf(state, policy, now) }));
    },
  };
}

function waitFor({ candidate, slotMs }: Lease, now: number, policyId: string | null): AdmissionAnswer {
  return { kind: 'wait', candidate, waitMs: slotMs - now, policyId };
}
