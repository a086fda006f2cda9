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

/** An ask without an answer, and the release that came before that. Monotonic times. */
interface Asked {
  readonly askedMs: number;
  readonly told: { readonly release: Release; readonly cameMs: number } | null;
}

function createEarlyReleases(monotonicMs: () => number) {
  const asks = new Map<string, Asked>();
  return {
    asking: (operationId: string): void => void asks.set(operationId, { askedMs: monotonicMs(), told: null }),
    came(operationId: string, release: Release): void {
      const asked = asks.get(operationId);
      if (asked === undefined) return;
      asks.set(operationId, { ...asked, told: { release, cameMs: monotonicMs() } });
    },
    /** It has its answer. */
    take(operationId: string): Asked | undefined {
      const asked = asks.get(operationId);
      asks.delete(operationId);
      return asked;
    },
  };
}

/** A message that was late, or came twice, may be about an earlier place of the same request. The engine knows. */
function isOlder(release: Release, cameMs: number, { askedMs }: Waiter): boolean {
  return release.kind === 'admitted' && cameMs - release.agoMs < askedMs - STORE_TICK_MS;
}

export function createLine(deps: LineDeps): Line {
  const { engine, clock, warn } = deps;
  const waiters = createWaiters();
  const early = createEarlyReleases(clock.monotonicMs);
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

  function released(operationId: string, release: Release): void {
    early.came(operationId, release);
    waiters.with(operationId, (waiter) => tellReleased(waiter, release, clock.monotonicMs()));
  }

  function tellReleased(waiter: Waiter, release: Release, cameMs: number): void {
    if (isOlder(release, cameMs, waiter)) askAgain.soon(waiter);
    else tell(waiter, { answer: release, alone: false });
  }

  function missed(shard: string): void {
    for (const organizationId of waiters.organizations())
      if (prefixOf(organizationId) === shard) alarms.doubt(organizationId);
  }

  return {
    listener: { released, next: alarms.set, missed },
    asking: early.asking,
    asked: (operationId) => void early.take(operationId),
    join(ask, withinMs) {
      const nowMs = clock.monotonicMs();
      const { askedMs = nowMs, told = null } = early.take(ask.operationId) ?? {};
      // What a failed attempt used is given back once.
      const { release: _release, ...kept } = ask;
      const waiter = waiters.add(kept, askedMs, nowMs + ask.waitMsMax);
      if (told === null) askAgain.watch(waiter, withinMs);
      else tellReleased(waiter, told.release, told.cameMs);
      return waiter.ended;
    },
    stop: (operationId) => waiters.with(operationId, (waiter) => end(waiter, { kind: 'stopped' })),
    lost: (operationId) => waiters.with(operationId, askAgain.soon),
    close() {
      for (const waiter of waiters.all()) end(waiter, { kind: 'stopped' });
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
