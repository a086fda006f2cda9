import type { AppliedLimit } from '../domain/limits/limit.ts';
import { METRICS } from '../domain/limits/metric.ts';
import { RelayError } from '../domain/relay-error.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import type { Decision } from './ask-again.ts';
import { type ChangedLimits, createChangedLimits } from './changed-limits.ts';
import type {
  Actual,
  AdmissionAsk,
  AdmissionEngine,
  CandidateAsk,
  DeskAnswer,
  DeskAsk,
  LineListener,
  Opening,
  Refusal,
} from './engine.ts';
import type { Journal } from './journal.ts';
import { createLeaseKeeper, LEASE_MS } from './lease-keeper.ts';
import { createLine, type Line } from './line.ts';
import { type FlowsAsk, flowsOf } from './live-flows.ts';
import { type LiveTraffic, lanesOf } from './live-lanes.ts';
import {
  asksOf,
  countLive,
  earlierOf,
  fellBack,
  type LiveOperation,
  type LiveOperations,
  remember,
  usesOf,
} from './live-operations.ts';
import { COOLDOWN_MS_MAX, type LocalCooldowns } from './local-cooldowns.ts';
import { createRebuildWindows, type RebuildWindows } from './rebuild-windows.ts';
import { createRecentCounts, type RecentCounts } from './recent-counts.ts';
import { concurrencyRefusal } from './refusal.ts';
import { createRunningTimes, type RunningTimes } from './running-times.ts';
import { createSettlements, tellSettled } from './settlements.ts';
import { createShardReports, type ReportShard } from './shard-reports.ts';
import type { WaitEnd } from './waiters.ts';

const REBUILDS_MAX = 3;
const WARN_EVERY_MS = 10_000;
const UNKNOWN_PLACE = { kind: 'wait', candidate: 0, withinMs: 0, firm: false, policyId: null } as const;

export interface DeskDeps {
  readonly engine: AdmissionEngine;
  /** Admits requests without limits while the engine is unavailable. */
  readonly local: LocalCooldowns;
  /** Takes the record of a request that was never admitted. */
  readonly append: (organizationId: string, record: string) => void;
  readonly journal: Journal;
  /** Keeps the draft of every request before its dispatch, for an engine whose leases end with the process. */
  readonly keepDraft?: Journal['draft'];
  /** Reads calendar windows that the engine does not know from the ledger. */
  readonly openings: (organizationId: string, limits: readonly AppliedLimit[]) => Promise<Opening[]>;
  /** Those of these requests that the ledger has, for an engine whose store may lose what was settled. */
  readonly posted?: (operationIds: readonly string[]) => Promise<ReadonlySet<string>>;
  readonly clock: Clock;
  readonly log: Log;
}

/** `ended`: how a wait ends. */
export type DeskReply =
  | Exclude<DeskAnswer, { kind: 'wait' }>
  | (Extract<DeskAnswer, { kind: 'wait' }> & { readonly ended: Promise<WaitEnd> });

/**
 * What the data plane uses of the limits engine. Every dispatched request has a lease at the engine or, while the engine is
 * unavailable and nothing would be charged, a draft in the journal, so that it gets its ledger row even if this process dies.
 */
export interface AdmissionDesk {
  admit(ask: DeskAsk): Promise<DeskReply>;
  /** Ends the wait of a request, such as after a disconnect; `void` then gives up its place. */
  stopWaiting(operationId: string): void;
  /** Gives up the place or capacity of a request that was not dispatched. `settle` follows. */
  void(organizationId: string, operationId: string): void;
  /** Never blocks or fails a request; the journal takes what the store does not. */
  settle(organizationId: string, operationId: string, actual: Actual, record: string): void;
  /** Counts a request that was refused and not sent; a refusal alone may be followed by another ask. */
  rejected(organizationId: string, about: NonNullable<DeskAsk['about']>): void;
  /** The refusal of a request for which no unit of this concurrency limit is free within its wait budget. */
  refuseInLine(organizationId: string, policyId: string, retryMsMin: number): Refusal;
  /** Told by the engine about those who wait. */
  readonly line: LineListener;
  /** The asks of an organization's requests that wait, or may ask again. */
  inFlight(organizationId: string): readonly AdmissionAsk[];
  /** Tells the engine what limits are by now, and keeps it for asks that come again. */
  changeLimits: AdmissionEngine['changeLimits'];
  penalize(organizationId: string, endpointId: string, untilMs: number): void;
  cooldownUntilMs(endpointId: string): number | null;
  /** Requests of this process that wait for capacity, and those that have it. */
  counts(): { readonly waiting: number; readonly dispatched: number };
  /** The store started a shard's state again. */
  readonly shardRestarted: ReportShard;
  /** The same by lane and endpoint, of one organization, with the queues of its lanes. */
  traffic(ask: FlowsAsk): Promise<LiveTraffic>;
  start(): void;
  /** Waits for settlements in flight; returns how many are left. */
  stop(timeoutMs: number): Promise<number>;
}

export function createDesk(deps: DeskDeps): AdmissionDesk {
  const { engine, clock, log } = deps;
  const live: LiveOperations = new Map();
  const left: LiveOperations = new Map();
  const windows = createRebuildWindows(deps);
  const { rebuild } = windows;
  const warn = warnOccasionally(clock, log);
  const settlements = createSettlements({ ...deps, rebuild, warn });
  const running = createRunningTimes();
  const fallbacks = createRecentCounts();
  const rejections = createRecentCounts();
  const changed = createChangedLimits(clock);
  const parts = { ...deps, live, left, rebuild, running, changed, fallbacks, rejections, warn };
  const line = createLine({
    ...parts,
    decide: (ask) => decide(parts, ask),
    take: (ask, decision) => take(parts, ask, decision),
    isLive: (operationId) => live.has(operationId),
    gaveUp: (operationId) => noteGivenUp(live, operationId),
  });
  const keeper = createLeaseKeeper({ ...parts, isRestarting: settlements.isHeld, lost: line.lost });

  return {
    admit: (given) => admitFor(parts, line, given),
    stopWaiting: line.stop,
    void(organizationId, operationId) {
      line.stop(operationId);
      giveBack(parts, organizationId, operationId);
    },
    settle(organizationId, operationId, actual, record) {
      const found = removeFrom(operationId, live, left);
      running.ended(operationId, clock.monotonicMs());
      if (found !== undefined)
        settlements.send({ organizationId, operationId, ...usesOf(found, actual), record }, found);
      else {
        deps.append(organizationId, record);
        tellSettled(operationId);
      }
    },
    rejected: (organizationId, about) => rejections.note(organizationId, about, clock.monotonicMs()),
    refuseInLine: refuseForConcurrency.bind(null, parts),
    line: line.listener,
    inFlight: (organizationId) => asksOf(live, organizationId),
    async changeLimits(organizationId, version, changes) {
      changed.note(organizationId, version, changes);
      await engine.changeLimits(organizationId, version, changes);
    },
    penalize: (organizationId, endpointId, untilMs) => penalize(parts, organizationId, endpointId, untilMs),
    cooldownUntilMs: (endpointId) => deps.local.cooldownUntilMs(endpointId),
    counts: () => countLive(live),
    traffic: (ask) => trafficOf(parts, ask),
    shardRestarted: createShardReports({ keeper, settlements, windows }),
    start() {
      keeper.start();
      settlements.start();
    },
    stop(timeoutMs) {
      keeper.stop();
      line.close();
      return settlements.drain(timeoutMs);
    },
  };
}

interface Parts extends DeskDeps {
  readonly live: LiveOperations;
  /**
   * Requests that gave up their place, and may still hold it or what they were charged when the engine let them go. Their settlement ends
   * that at the engine, and not only their lease, which would leave the charge for good.
   */
  readonly left: LiveOperations;
  readonly rebuild: RebuildWindows;
  readonly running: RunningTimes;
  readonly changed: ChangedLimits;
  readonly fallbacks: RecentCounts;
  readonly rejections: RecentCounts;
  readonly warn: (error: unknown, message: string) => void;
}

async function trafficOf(parts: Parts, ask: FlowsAsk): Promise<LiveTraffic> {
  const { engine, live, clock } = parts;
  const nowMs = clock.monotonicMs();
  const flows = flowsOf(live.values(), ask, nowMs);
  const recent = {
    fallbacks: parts.fallbacks.of(ask, nowMs),
    rejections: parts.rejections.of(ask, nowMs),
  };
  return { flows, lanes: await lanesOf(engine, live.values(), ask, recent) };
}

async function admitFor(parts: Parts, line: Line, given: DeskAsk): Promise<DeskReply> {
  const before = parts.live.get(given.operationId);
  const attempt = earlierOf(before, given.release, parts.clock.monotonicMs()).length;
  const ask = { ...given, leaseMs: LEASE_MS, attempt };
  let answer: DeskAnswer;
  line.asking(ask.operationId);
  try {
    answer = take(parts, ask, await decide(parts, ask));
  } catch (error) {
    line.asked(ask.operationId);
    if (ask.release?.dispatched === false) noteGivenUp(parts.live, ask.operationId);
    throw error;
  }
  if (answer.kind === 'wait') return { ...answer, ended: line.join(ask, answer.withinMs) };
  line.asked(ask.operationId);
  return answer;
}

function removeFrom(
  operationId: string,
  live: LiveOperations,
  left: LiveOperations,
): LiveOperation | undefined {
  const found = live.get(operationId) ?? left.get(operationId);
  live.delete(operationId);
  left.delete(operationId);
  return found;
}

function noteGivenUp(live: LiveOperations, operationId: string): void {
  const held = live.get(operationId);
  if (held !== undefined) held.isGivenUp = true;
}

function giveBack(
  { engine, live, left, running, clock, warn }: Parts,
  organizationId: string,
  operationId: string,
) {
  const found = live.get(operationId);
  if (found === undefined) return;
  running.ended(operationId, clock.monotonicMs());
  found.isGivenUp = true;
  // An operation that was sent, or is in the journal, is settled later.
  if (found.earlier.length === 0 && !found.journaled) {
    live.delete(operationId);
    left.set(operationId, { ...found, state: 'waiting' });
  }
  engine.void(organizationId, operationId).then(
    () => left.delete(operationId),
    (error: unknown) => warn(error, 'could not release reserved capacity; its settlement will release it'),
  );
}

function penalize(
  { engine, local, clock, warn }: Parts,
  organizationId: string,
  endpointId: string,
  untilMs: number,
): void {
  local.penalize(endpointId, untilMs);
  const forMs = Math.min(COOLDOWN_MS_MAX, Math.max(1, untilMs - clock.nowMs()));
  engine.penalize(organizationId, endpointId, forMs).catch((error: unknown) => {
    warn(error, 'could not announce a cooldown to other processes');
  });
}

/** The engine's answer, or without the store that of this process, if nothing is charged. */
async function decide(parts: Parts, ask: AdmissionAsk): Promise<Decision> {
  try {
    return { answer: await askEngine(parts, parts.changed.apply(ask)), alone: false };
  } catch (error) {
    if (hasCharges(ask.candidates)) {
      parts.warn(error, 'cannot check limits; rejecting the request');
      throw asUnavailable(error);
    }
    parts.warn(error, 'the admission store is unavailable; serving requests that have no limit');
    // This process knows the cooldowns, and the journal replaces the lease.
    return { answer: parts.local.admit(ask), alone: true };
  }
}

async function askEngine({ engine, live, rebuild, clock }: Parts, ask: AdmissionAsk): Promise<DeskAnswer> {
  try {
    for (let attempt = 0; attempt < REBUILDS_MAX; attempt += 1) {
      const answer = await engine.admit(ask);
      if (answer.kind !== 'rebuild') return answer;
      await rebuild(ask, answer.policyIds);
    }
  } catch (error) {
    // The engine may have reserved capacity although its answer was lost. Settling the operation gives it back.
    if (!live.has(ask.operationId)) remember(live, ask, UNKNOWN_PLACE, clock.monotonicMs());
    throw error;
  }
  throw new RelayError('policy_unavailable', { internal: 'limit windows are still unknown after a rebuild' });
}

/** Notes what was decided. Throws when the draft of a request to be dispatched cannot be kept. */
function take(parts: Parts, ask: AdmissionAsk, { answer, alone }: Decision): DeskAnswer {
  const { live, left, running, clock } = parts;
  const nowMs = clock.monotonicMs();
  const before = live.get(ask.operationId);
  if (answer.kind === 'admitted') keepDraft(parts, ask, answer.candidate, alone);
  const known = remember(live, ask, answer, nowMs);
  if (known?.ask.about !== undefined && fellBack(known))
    parts.fallbacks.note(ask.organizationId, known.ask.about, nowMs);
  // Written again meanwhile, it may hold what the refusal had given back.
  if (before?.restoring !== undefined && !live.has(ask.operationId))
    left.set(ask.operationId, { ...before, state: 'waiting' });
  if (alone && known !== null) {
    // The next heartbeat extends or restores the lease as soon as the engine answers again.
    known.leasedMs = Number.NEGATIVE_INFINITY;
    known.journaled ||= answer.kind === 'admitted';
  }
  running.noted(ask, answer, nowMs);
  // A limit of 0 permits nothing, whenever the client asks.
  if (answer.kind !== 'refused' || answer.reason !== 'wait_budget') return answer;
  if (answer.policyId === null || !isConcurrency(ask, answer.policyId)) return answer;
  // The engine does not know when a unit is free, but it may know that other limits have no room before.
  return refuseForConcurrency(parts, ask.organizationId, answer.policyId, answer.retryAfterMs);
}

function keepDraft(parts: Parts, ask: AdmissionAsk, candidate: number, alone: boolean): void {
  const { organizationId, operationId, draft } = ask;
  const keep = alone ? parts.journal.draft : parts.keepDraft;
  try {
    keep?.({ organizationId, operationId, candidate, draft }, parts.live.size);
  } catch (error) {
    // It is not dispatched, so that it gives back what it was admitted for.
    if (!alone) parts.engine.void(organizationId, operationId).catch(() => undefined);
    throw error;
  }
}

function refuseForConcurrency(
  { running, clock }: Parts,
  organizationId: string,
  policyId: string,
  retryMsMin: number,
): Refusal {
  const freeInMs = running.freeInMs(organizationId, policyId, clock.monotonicMs());
  return concurrencyRefusal(policyId, Math.max(freeInMs, retryMsMin));
}

function isConcurrency({ candidates }: AdmissionAsk, policyId: string): boolean {
  const charges = candidates.flatMap((candidate) => candidate.charges);
  return charges.some(({ policy }) => policy.id === policyId && METRICS[policy.metric].held);
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
  const internal = error instanceof Error ? error.message : 'the admission engine failed';
  return new RelayError('policy_unavailable', { cause: error, internal });
}
