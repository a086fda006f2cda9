import type { AdmissionAsk, LineListener } from '../engine.ts';
import type { Batch, BatchReply } from './batch.ts';
import { type OperationRelease, readRelease } from './wire.ts';

/**
 * A step that found nothing to do came after that of another process, which takes the next as well. This one looks a little later, in
 * case the other is gone.
 */
const SECOND_ALARM_MS = 60;
const SECOND_ALARM_SPREAD_MS = 40;

export interface LineReplies {
  /** It is asked for: a release by message may arrive before the reply. */
  asks(operationId: string): void;
  /** Who waits now, and who does not any more. Before the callers know; they are told with what it returns. */
  answered(batch: Batch, reply: BatchReply, agoMs: number): () => void;
  /** The asks of a batch got no answer. */
  failed(batch: Batch): void;
  released(release: OperationRelease, agoMs: number): void;
  /** Null or less than 0: no request waits. */
  next(organizationId: string, inMs: number | null, moved?: boolean): void;
  /** Releases of a shard may have been lost. */
  missed(prefix: string): void;
}

/** The waiters of this process, and what the listener hears of them. */
export function createLineReplies(
  line: LineListener,
  prefixFor: (organizationId: string) => string,
): LineReplies {
  const waiting = createWaiting();
  const alarmed = new Set<string>();
  /** Asks without a reply, with the release that came before it. */
  const asked = new Map<string, (() => void) | null>();

  /** Null when this process does not wait for it. */
  function prepare({ operationId, answer }: OperationRelease, agoMs: number): (() => void) | null {
    const ask = waiting.remove(operationId);
    if (ask === undefined) return null;
    const release = readRelease(answer, ask.candidates);
    return () => line.released(operationId, release.kind === 'admitted' ? { ...release, agoMs } : release);
  }

  function next(organizationId: string, inMs: number | null, moved = true): void {
    if (waiting.isIn(organizationId) && inMs !== null && inMs >= 0) {
      alarmed.add(organizationId);
      const laterMs = moved ? 0 : SECOND_ALARM_MS + Math.random() * SECOND_ALARM_SPREAD_MS;
      line.next(organizationId, inMs + laterMs);
    } else if (alarmed.delete(organizationId)) line.next(organizationId, null);
  }

  return {
    asks: (operationId) => void asked.set(operationId, null),
    answered({ settles, voids, asks }, { answers, releases, nexts }, agoMs) {
      for (const [index, { ask }] of asks.entries()) if (answers[index]?.kind === 'wait') waiting.add(ask);
      const tell = releases.map((release) => prepare(release, agoMs));
      for (const { operationId } of settles) waiting.remove(operationId);
      for (const { operationId } of voids) waiting.remove(operationId);
      for (const [index, { ask }] of asks.entries()) {
        const early = asked.get(ask.operationId);
        asked.delete(ask.operationId);
        if (answers[index]?.kind !== 'wait') waiting.remove(ask.operationId);
        else if (early !== null && early !== undefined) tell.push(early);
      }
      return () => {
        for (const each of tell) each?.();
        for (const [organizationId, inMs] of nexts) next(organizationId, inMs);
      };
    },
    failed({ asks }) {
      for (const { ask } of asks) asked.delete(ask.operationId);
    },
    released(release, agoMs) {
      const { operationId } = release;
      if (waiting.has(operationId)) prepare(release, agoMs)?.();
      else if (asked.has(operationId)) asked.set(operationId, () => prepare(release, agoMs)?.());
    },
    next,
    missed(prefix) {
      for (const organizationId of waiting.organizations())
        if (prefixFor(organizationId) === prefix) return line.missed(prefix);
    },
  };
}

/** The asks of this process that wait. */
function createWaiting() {
  const asks = new Map<string, AdmissionAsk>();
  const counts = new Map<string, number>();

  function count(organizationId: string, change: number): void {
    const next = (counts.get(organizationId) ?? 0) + change;
    if (next > 0) counts.set(organizationId, next);
    else counts.delete(organizationId);
  }

  return {
    has: (operationId: string) => asks.has(operationId),
    isIn: (organizationId: string) => counts.has(organizationId),
    organizations: () => counts.keys(),
    /** A request that asks again keeps what it asked for first. */
    add(ask: AdmissionAsk): void {
      if (asks.has(ask.operationId)) return;
      asks.set(ask.operationId, ask);
      count(ask.organizationId, 1);
    },
    remove(operationId: string): AdmissionAsk | undefined {
      const ask = asks.get(operationId);
      if (ask !== undefined && asks.delete(operationId)) count(ask.organizationId, -1);
      return ask;
    },
  };
}
