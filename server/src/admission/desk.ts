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
} from './engine.ts';
import type { LocalCooldowns } from './local-cooldowns.ts';
import type { Policy } from './policy.ts';

/** How long a lease lives without a heartbeat, and how often one is sent. */
const LEASE_MS = 20_000;
const HEARTBEAT_MS = 5_000;
const OPERATIONS_PER_HEARTBEAT = 500;
const SETTLE_RETRY_MS = 500;
const UNSETTLED_MAX = 50_000;
const REBUILDS_MAX = 3;

export interface DeskDeps {
  readonly engine: AdmissionEngine;
  /** Serves requests to which no policy applies, without asking the engine. */
  readonly local: LocalCooldowns;
  /** Takes the record of a request that the engine never heard of. */
  readonly append: (organizationId: string, record: string) => void;
  /** What the ledger knows of calendar windows that the engine does not. */
  readonly openings: (organizationId: string, policies: readonly Policy[]) => Promise<Opening[]>;
  readonly clock: Clock;
  readonly log: Log;
}

interface Live {
  readonly ask: AdmissionAsk;
  state: 'waiting' | 'dispatched';
  candidate: number;
  dispatchedMs: number;
  wake: (() => void) | null;
}

interface Unsettled {
  readonly organizationId: string;
  readonly operationId: string;
  readonly actual: Actual;
  readonly record: string;
}

/**
 * The data plane's counter in front of the limits engine: it decides whether the engine has to be asked at all, keeps the
 * leases of this process alive, rebuilds windows the engine has lost, and makes sure that every settlement arrives.
 */
export interface AdmissionDesk {
  admit(ask: DeskAsk): DeskAnswer | Promise<DeskAnswer>;
  /** The client left while it waited. */
  void(organizationId: string, operationId: string): void;
  /** Never blocks or fails a request; while the store is away, settlements wait for it. */
  settle(organizationId: string, operationId: string, actual: Actual, record: string): void;
  /** Calls back when it is worth asking again for an operation in line. */
  onWake(operationId: string, wake: (() => void) | null): void;
  woken(operationId: string): void;
  penalize(organizationId: string, endpointId: string, untilMs: number): void;
  cooldownUntilMs(endpointId: string): number | null;
  start(): void;
  /** Waits for settlements under way; answers how many stayed behind. */
  stop(timeoutMs: number): Promise<number>;
}

export function createDesk(deps: DeskDeps): AdmissionDesk {
  const { engine, clock, log } = deps;
  const live = new Map<string, Live>();
  const rebuilding = new Map<string, Promise<void>>();
  let unsettled: Unsettled[] = [];
  let underWay = 0;
  let heartbeat: NodeJS.Timeout | null = null;
  let retry: NodeJS.Timeout | null = null;

  async function askEngine(given: DeskAsk): Promise<DeskAnswer> {
    const ask = { ...given, leaseMs: LEASE_MS };
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
      if (!live.has(ask.operationId)) remember(ask, { kind: 'wait', candidate: 0, waitMs: 0 });
      throw asUnavailable(error);
    }
    throw new RelayError('policy_unavailable', { internal: 'windows stay unknown after they were rebuilt' });
  }

  /** A crowd that meets the same unknown windows asks the ledger once, not once each. */
  function rebuild(ask: AdmissionAsk, policyIds: readonly string[]): Promise<void> {
    const { organizationId } = ask;
    const key = [organizationId, ...[...policyIds].sort()].join(' ');
    const underWay = rebuilding.get(key);
    if (underWay !== undefined) return underWay;
    const policies = policiesOf(ask.candidates).filter(({ id }) => policyIds.includes(id));
    const started = deps
      .openings(organizationId, policies)
      .then((openings) => engine.initialize(organizationId, openings))
      .finally(() => rebuilding.delete(key));
    rebuilding.set(key, started);
    return started;
  }

  function remember(ask: AdmissionAsk, answer: DeskAnswer): void {
    if (answer.kind === 'refused') {
      live.delete(ask.operationId);
      return;
    }
    const { release: _release, ...kept } = ask;
    live.set(ask.operationId, {
      ask: kept,
      state: answer.kind === 'admitted' ? 'dispatched' : 'waiting',
      candidate: answer.candidate,
      dispatchedMs: clock.monotonicMs(),
      wake: live.get(ask.operationId)?.wake ?? null,
    });
  }

  async function settleOne(settlement: Unsettled): Promise<boolean> {
    underWay += 1;
    try {
      await engine.settle(settlement);
      return true;
    } catch (error) {
      log.warn({ err: error, waiting: unsettled.length }, 'a settlement waits for the store');
      return false;
    } finally {
      underWay -= 1;
    }
  }

  function keepForLater(settlement: Unsettled): void {
    unsettled.push(settlement);
    if (unsettled.length > UNSETTLED_MAX) unsettled.shift();
    retry ??= setTimeout(() => void retryUnsettled(), SETTLE_RETRY_MS);
  }

  async function retryUnsettled(): Promise<void> {
    retry = null;
    const waiting = unsettled;
    unsettled = [];
    for (const [index, settlement] of waiting.entries()) {
      if (await settleOne(settlement)) continue;
      for (const left of waiting.slice(index)) keepForLater(left);
      return;
    }
  }

  async function beat(): Promise<void> {
    const byOrganization = new Map<string, string[]>();
    for (const [operationId, { ask }] of live) {
      const list = byOrganization.get(ask.organizationId) ?? [];
      byOrganization.set(ask.organizationId, list);
      list.push(operationId);
    }
    for (const [organizationId, operationIds] of byOrganization) {
      for (let from = 0; from < operationIds.length; from += OPERATIONS_PER_HEARTBEAT) {
        const batch = operationIds.slice(from, from + OPERATIONS_PER_HEARTBEAT);
        const unknown = await engine.extend(organizationId, batch, LEASE_MS);
        for (const operationId of unknown) await restore(operationId);
      }
    }
  }

  /** The store has forgotten an operation: what is under way is written down again, what waits asks again by itself. */
  async function restore(operationId: string): Promise<void> {
    const found = live.get(operationId);
    if (found === undefined) return;
    if (found.state === 'waiting') {
      found.wake?.();
      return;
    }
    const agoMs = clock.monotonicMs() - found.dispatchedMs;
    if (await engine.restore(found.ask, found.candidate, agoMs)) return;
    await rebuild(
      found.ask,
      policiesOf(found.ask.candidates).map(({ id }) => id),
    );
    await engine.restore(found.ask, found.candidate, agoMs);
  }

  return {
    admit(ask) {
      if (hasCharges(ask.candidates) || live.has(ask.operationId)) return askEngine(ask);
      return deps.local.admit(ask);
    },
    void(organizationId, operationId) {
      if (!live.delete(operationId)) return;
      engine.void(organizationId, operationId).catch((error: unknown) => {
        // The lease ends by itself when it is not extended any more.
        log.warn({ err: error }, 'a slot could not be given back; it ends with its lease');
      });
    },
    settle(organizationId, operationId, actual, record) {
      if (!live.delete(operationId)) {
        deps.append(organizationId, record);
        return;
      }
      const settlement = { organizationId, operationId, actual, record };
      void settleOne(settlement).then((settled) => {
        if (!settled) keepForLater(settlement);
      });
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
      engine
        .penalize(organizationId, endpointId, Math.max(1, untilMs - clock.nowMs()))
        .catch((error: unknown) => {
          log.warn({ err: error, endpoint: endpointId }, 'a cooldown was not announced');
        });
    },
    cooldownUntilMs: (endpointId) => deps.local.cooldownUntilMs(endpointId),
    start() {
      heartbeat ??= setInterval(() => {
        beat().catch((error: unknown) => log.warn({ err: error }, 'leases could not be extended'));
      }, HEARTBEAT_MS);
    },
    async stop(timeoutMs) {
      const deadlineMs = clock.monotonicMs() + timeoutMs;
      if (heartbeat !== null) clearInterval(heartbeat);
      while ((unsettled.length > 0 || underWay > 0) && clock.monotonicMs() < deadlineMs) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      if (retry !== null) clearTimeout(retry);
      return unsettled.length + underWay;
    },
  };
}

function hasCharges(candidates: readonly CandidateAsk[]): boolean {
  return candidates.some(({ charges }) => charges.length > 0);
}

function policiesOf(candidates: readonly CandidateAsk[]): Policy[] {
  const policies = new Map<string, Policy>();
  for (const { charges } of candidates) for (const { policy } of charges) policies.set(policy.id, policy);
  return [...policies.values()];
}

/** A limit that cannot be checked is not a limit that is met. */
function asUnavailable(error: unknown): unknown {
  if (!(error instanceof RelayError) || error.code !== 'store_unavailable') return error;
  return new RelayError('policy_unavailable', { cause: error, internal: error.message });
}
