import type { Clock } from '../kit/clock.ts';
import type { AdmissionAsk, AdmissionEngine, DeskAnswer } from './engine.ts';
import { guardMs } from './memory/promise.ts';
import type { Waiter, Waiters } from './waiters.ts';

/** How long after its deadline a waiter that heard nothing asks a last time. */
const LOST_AFTER_MS = 50;
const RETRY_MS = 100;
const ASKED_CONCURRENTLY = 64;

export interface Decision {
  readonly answer: DeskAnswer;
  /** Decided without the engine. */
  readonly alone: boolean;
}

export interface AskAgainDeps {
  readonly engine: Pick<AdmissionEngine, 'void'>;
  /** Rejects when the limits cannot be checked. */
  readonly decide: (ask: AdmissionAsk) => Promise<Decision>;
  /** Whether this process still serves the request. */
  readonly isLive: (operationId: string) => boolean;
  readonly waiters: Waiters;
  readonly tell: (waiter: Waiter, decision: Decision) => void;
  readonly fail: (waiter: Waiter, error: unknown) => void;
  readonly clock: Clock;
}

/** Finds releases that were lost: a repeated ask gets the answer that the first would get now. */
export interface AskAgain {
  /** Asks again when the waiter should have heard by now: shortly before its deadline, and a last time after it. */
  watch(waiter: Waiter, withinMs: number): void;
  /** Asks now, and again until the wait budget ends while no engine answers. */
  soon(waiter: Waiter): void;
  /** Asks for all of an organization. Rejects when no engine answers. */
  all(organizationId: string): Promise<void>;
}

export function createAskAgain(deps: AskAgainDeps): AskAgain {
  const { engine, waiters, clock } = deps;
  const waits = (waiter: Waiter) => waiters.get(waiter.ask.operationId) === waiter;

  function askIn(waiter: Waiter, inMs: number): void {
    if (waiter.timer !== null) clearTimeout(waiter.timer);
    waiter.timer = setTimeout(() => {
      ask(waiter).catch((error: unknown) => {
        if (!waits(waiter)) return;
        const restMs = waiter.deadlineMs - clock.monotonicMs();
        if (restMs > 0) askIn(waiter, Math.min(RETRY_MS, restMs));
        else deps.fail(waiter, error);
      });
    }, Math.ceil(inMs));
  }

  async function ask(waiter: Waiter): Promise<void> {
    const { organizationId, operationId } = waiter.ask;
    const askedMs = clock.monotonicMs();
    const waitMsMax = Math.max(0, waiter.deadlineMs - askedMs);
    const { answer, alone } = await deps.decide({ ...waiter.ask, waitMsMax });
    const tookMs = clock.monotonicMs() - askedMs;
    if (!waits(waiter)) {
      // It left meanwhile. An ask that reached the engine after that made a new place, which no request takes.
      if (!deps.isLive(operationId)) engine.void(organizationId, operationId).catch(() => undefined);
      return;
    }
    const aged = answer.kind === 'admitted' ? { ...answer, agoMs: answer.agoMs + tookMs } : answer;
    deps.tell(waiter, { answer: aged, alone });
  }

  return {
    watch(waiter, withinMs) {
      const restMs = Math.max(0, Math.min(withinMs, waiter.deadlineMs - clock.monotonicMs()));
      // Promises end before the deadline, so that a request whose release was lost can still go in time.
      const guard = guardMs(waiter.ask);
      askIn(waiter, restMs > guard ? restMs - guard / 2 : restMs + LOST_AFTER_MS);
    },
    soon: (waiter) => askIn(waiter, 0),
    async all(organizationId) {
      const all = waiters.of(organizationId);
      for (let from = 0; from < all.length; from += ASKED_CONCURRENTLY) {
        const some = all.slice(from, from + ASKED_CONCURRENTLY).filter(waits);
        await Promise.all(some.map(ask));
      }
    },
  };
}
