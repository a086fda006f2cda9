import type { AdmissionAsk, DeskAnswer } from './engine.ts';

/** A request of this process that holds capacity at the engine, or may hold it. */
export interface LiveOperation {
  readonly ask: AdmissionAsk;
  state: 'waiting' | 'dispatched';
  candidate: number;
  dispatchedMs: number;
  readonly stateSinceMs: number;
  /** When its lease was last extended to its full length. */
  leasedMs: number;
  /** Its draft is in the journal. */
  journaled: boolean;
  /** An attempt was sent and failed, so the request needs a row in the ledger however it ends. */
  readonly sent: boolean;
  /** Settles when the last attempt to write it again has ended. Never rejects. */
  restoring?: Promise<void>;
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
  const wasSent = before?.state === 'dispatched' && release?.dispatched === true;
  const sent = wasSent || before?.sent === true;
  if (answer.kind === 'refused') {
    // After a sent attempt the engine keeps a lease without charges until the operation is settled.
    if (sent && before !== undefined) live.set(operationId, { ...before, ask: uncharged(before.ask), sent });
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
    leasedMs: nowMs,
    journaled: before?.journaled ?? false,
    sent,
  };
  live.set(operationId, known);
  return known;
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
