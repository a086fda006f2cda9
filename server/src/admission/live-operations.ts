import type { Charge } from '../domain/limits/limit.ts';
import { amountOf } from '../domain/limits/metric.ts';
import { isSliding } from '../domain/limits/period.ts';
import type { Actual, AdmissionAsk, DeskAnswer, PastUse, SettleAsk } from './engine.ts';

/** A request of this process that holds capacity at the engine, or may hold it. */
export interface LiveOperation {
  readonly ask: AdmissionAsk;
  state: 'waiting' | 'dispatched';
  candidate: number;
  dispatchedMs: number;
  readonly stateSinceMs: number;
  /** The limit that made it wait, by the engine's id; null if it does not wait, or for a cooldown, the pace or its turn. */
  readonly waitsFor: string | null;
  /** When its lease was last extended to its full length. */
  leasedMs: number;
  /** Its draft is in the journal. */
  journaled: boolean;
  /** The attempts that were sent before this one and failed, oldest first. With one, the request needs a row however it ends. */
  readonly earlier: readonly EarlierAttempt[];
  /** Its place or capacity was given up: the attempt that it was for is not sent. */
  isGivenUp?: boolean;
  /** The endpoint of the attempt that failed before the present ask; undefined once another was dispatched. */
  readonly failedOn?: string | undefined;
  /** Settles when the last attempt to write it again has ended. Never rejects. */
  restoring?: Promise<void>;
}

/** An attempt that was sent and failed, and that another followed. No row has it before the request ends. */
export interface EarlierAttempt {
  readonly used: Actual;
  readonly charges: readonly Charge[];
  /** Monotonic. */
  readonly dispatchedMs: number;
  /** Monotonic; from here its usage was known. */
  readonly knownMs: number;
}

/** By operation. */
export type LiveOperations = Map<string, LiveOperation>;

type Granted = Exclude<DeskAnswer, { kind: 'refused' }>;

/** Records the engine's answer; returns null for a refusal. */
export function remember(
  live: LiveOperations,
  ask: AdmissionAsk,
  answer: Granted,
  nowMs: number,
): LiveOperation;
export function remember(
  live: LiveOperations,
  ask: AdmissionAsk,
  answer: DeskAnswer,
  nowMs: number,
): LiveOperation | null;
export function remember(
  live: LiveOperations,
  ask: AdmissionAsk,
  answer: DeskAnswer,
  nowMs: number,
): LiveOperation | null {
  const { operationId, release } = ask;
  const before = live.get(operationId);
  const earlier = earlierOf(before, release, nowMs);
  if (answer.kind === 'refused') {
    // After a sent attempt the engine keeps a lease without charges until the operation is settled.
    if (earlier.length > 0 && before !== undefined)
      live.set(operationId, { ...before, ask: uncharged(before.ask), earlier, isGivenUp: true });
    else live.delete(operationId);
    return null;
  }
  const { release: _release, ...kept } = ask;
  const state = answer.kind === 'admitted' ? 'dispatched' : 'waiting';
  const known: LiveOperation = {
    ask: kept,
    state,
    candidate: answer.candidate,
    dispatchedMs: answer.kind === 'admitted' ? nowMs - answer.agoMs : nowMs,
    stateSinceMs: before?.state === state ? before.stateSinceMs : nowMs,
    waitsFor: answer.kind === 'wait' ? answer.policyId : null,
    leasedMs: nowMs,
    journaled: before?.journaled ?? false,
    earlier,
    failedOn: failedOn(before, ask),
  };
  live.set(operationId, known);
  return known;
}

/** Returns the attempts that were sent before the admit call with this release. */
export function earlierOf(
  before: LiveOperation | undefined,
  release: Actual | undefined,
  nowMs: number,
): readonly EarlierAttempt[] {
  const earlier = before?.earlier ?? [];
  if (before?.state !== 'dispatched' || release?.dispatched !== true) return earlier;
  const { ask, candidate, dispatchedMs } = before;
  const charges = ask.candidates[candidate]?.charges ?? [];
  return [...earlier, { used: release, charges, dispatchedMs, knownMs: nowMs }];
}

/** What the attempts used that were sent. The last of them is an earlier one if the last that was asked for was given up. */
export function usesOf(
  { earlier, isGivenUp }: LiveOperation,
  actual: Actual,
): Pick<SettleAsk, 'actual' | 'earlier'> {
  const uses = earlier.map(({ used }) => used);
  const last = isGivenUp === true ? uses.at(-1) : undefined;
  if (last !== undefined) return { actual: last, earlier: uses.slice(0, -1) };
  return uses.length === 0 ? { actual } : { actual, earlier: uses };
}

/** Returns the usage of the earlier attempts by limit. Usage beyond the reservation counts in short windows when it is known, as at settlement. */
export function pastUsesOf({ earlier }: LiveOperation, nowMs: number): PastUse[] {
  return earlier.flatMap(({ used, charges, dispatchedMs, knownMs }) =>
    charges.flatMap(({ policy, cost }) => {
      if (policy.period === 'none') return [];
      const amount = amountOf(policy.metric, used);
      const early = isSliding(policy.period) ? Math.min(amount, cost) : amount;
      const uses = [
        { policy, agoMs: nowMs - dispatchedMs, amount: early },
        { policy, agoMs: nowMs - knownMs, amount: amount - early },
      ];
      return uses.filter((use) => use.amount > 0);
    }),
  );
}

function failedOn(before: LiveOperation | undefined, { release }: AdmissionAsk): string | undefined {
  if (before === undefined) return undefined;
  if (before.state === 'waiting') return before.failedOn;
  return release?.dispatched === true ? endpointOf(before) : undefined;
}

function endpointOf({ ask, candidate }: Pick<LiveOperation, 'ask' | 'candidate'>): string | undefined {
  return ask.candidates[candidate]?.endpointId;
}

/** A request that was sent to one endpoint, and goes to another now. */
export function fellBack(known: LiveOperation): boolean {
  const { state, failedOn: before } = known;
  return state === 'dispatched' && before !== undefined && before !== endpointOf(known);
}

function uncharged(ask: AdmissionAsk): AdmissionAsk {
  return { ...ask, candidates: ask.candidates.map((candidate) => ({ ...candidate, charges: [] })) };
}

export function countLive(live: LiveOperations): { readonly waiting: number; readonly dispatched: number } {
  let waiting = 0;
  for (const { state } of live.values()) if (state === 'waiting') waiting += 1;
  return { waiting, dispatched: live.size - waiting };
}

/** What an organization's requests of this process asked for. */
export function asksOf(live: LiveOperations, organizationId: string): AdmissionAsk[] {
  const asks: AdmissionAsk[] = [];
  for (const { ask } of live.values()) if (ask.organizationId === organizationId) asks.push(ask);
  return asks;
}
