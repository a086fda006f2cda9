import type { Clock } from '../kit/clock.ts';
import { prefixOf } from '../store/redis/shards.ts';
import { createAskAgain, type Decision } from './ask-again.ts';
import type { AdmissionAsk, AdmissionEngine, DeskAnswer, LineListener, Release } from './engine.ts';
import { createLineAlarms } from './line-alarms.ts';
import { createWaiters, type WaitEnd, type Waiter } from './waiters.ts';

export interface LineDeps {
  readonly engine: Pick<AdmissionEngine, 'step' | 'void'>;
  /** Rejects when the limits cannot be checked. */
  readonly decide: (ask: AdmissionAsk) => Promise<Decision>;
  /** Notes what was decided. Throws when the request cannot be dispatched. */
  readonly take: (ask: AdmissionAsk, decision: Decision) => DeskAnswer;
  /** Whether this process still serves the request. */
  readonly isLive: (operationId: string) => boolean;
  /** A wait failed: its request is not sent, although the engine may have let it go. */
  readonly gaveUp: (operationId: string) => void;
  readonly clock: Clock;
  readonly warn: (error: unknown, message: string) => void;
}

/** The requests of this process that have a place in line, and what the engine tells about them. */
export interface Line {
  readonly listener: LineListener;
  /** The ask is in flight. Its release may arrive before its answer. */
  asking(operationId: string): void;
  /** The ask got another answer than a place in line, or none. */
  asked(operationId: string): void;
  /** The ask got a place in line. Returns how the wait ends. */
  join(ask: AdmissionAsk, withinMs: number): Promise<WaitEnd>;
  /** Ends the wait of one, such as after a disconnect. */
  stop(operationId: string): void;
  /** The store lost this waiter. */
  lost(operationId: string): void;
  close(): void;
}

/** The store's times are whole milliseconds. */
const STORE_TICK_MS = 1;

/** An ask without an answer: when it was sent, and the release that came before the answer, with when it came. */
interface EarlyRelease {
  readonly askedMs: number;
  release: Release | null;
  cameMs: number;
}

export function createLine(deps: LineDeps): Line {
  const { engine, clock, warn } = deps;
  const waiters = createWaiters();
  const early = new Map<string, EarlyRelease>();
  const fail = (waiter: Waiter, error: unknown) => {
    deps.gaveUp(waiter.ask.operationId);
    end(waiter, { kind: 'failed', error });
  };
  const askAgain = createAskAgain({ ...deps, waiters, tell, fail });
  const alarms = createLineAlarms({
    step: (organizationId) => engine.step(organizationId),
    askAgain: askAgain.all,
    someoneWaits: waiters.has,
    monotonicMs: clock.monotonicMs,
    random: Math.random,
    warn,
  });

  function end(waiter: Waiter, how: WaitEnd): void {
    if (waiters.remove(waiter)) waiter.end(how);
  }

  function tell(waiter: Waiter, decision: Decision): void {
    try {
      const taken = deps.take(waiter.ask, decision);
      if (taken.kind === 'wait') askAgain.watch(waiter, taken.withinMs);
      else end(waiter, taken);
    } catch (error) {
      fail(waiter, error);
    }
  }

  function stopAll(): void {
    for (const waiter of waiters.all()) end(waiter, { kind: 'stopped' });
  }

  function released(operationId: string, release: Release): void {
    const asked = early.get(operationId);
    const nowMs = clock.monotonicMs();
    if (asked !== undefined) Object.assign(asked, { release, cameMs: nowMs });
    waiters.with(operationId, (waiter) => tellReleased(waiter, release, nowMs));
  }

  /** A message that was late, or came twice, may be about an earlier place of the same request. The engine knows. */
  function tellReleased(waiter: Waiter, release: Release, cameMs: number): void {
    const isOlder = release.kind === 'admitted' && cameMs - release.agoMs < waiter.askedMs - STORE_TICK_MS;
    if (isOlder) askAgain.soon(waiter);
    else tell(waiter, { answer: release, alone: false });
  }

  function missed(shard: string): void {
    for (const organizationId of waiters.organizations())
      if (prefixOf(organizationId) === shard) alarms.doubt(organizationId);
  }

  return {
    listener: { released, next: alarms.set, missed },
    asking: (operationId) =>
      void early.set(operationId, { askedMs: clock.monotonicMs(), release: null, cameMs: 0 }),
    asked: (operationId) => void early.delete(operationId),
    join(ask, withinMs) {
      const nowMs = clock.monotonicMs();
      const asked = early.get(ask.operationId);
      early.delete(ask.operationId);
      // What a failed attempt used is given back once.
      const { release: _release, ...kept } = ask;
      const waiter = waiters.add(kept, asked?.askedMs ?? nowMs, nowMs + ask.waitMsMax);
      if (asked == null || asked.release === null) askAgain.watch(waiter, withinMs);
      else tellReleased(waiter, asked.release, asked.cameMs);
      return waiter.ended;
    },
    stop: (operationId) => waiters.with(operationId, (waiter) => end(waiter, { kind: 'stopped' })),
    lost: (operationId) => waiters.with(operationId, askAgain.soon),
    close() {
      stopAll();
      alarms.stop();
    },
  };
}

/** For an engine, which is created before the desk that it tells. */
export function relayTo(desk: () => { readonly line: LineListener }): LineListener {
  return {
    released: (operationId, release) => desk().line.released(operationId, release),
    next: (organizationId, inMs) => desk().line.next(organizationId, inMs),
    missed: (shard) => desk().line.missed(shard),
  };
}
