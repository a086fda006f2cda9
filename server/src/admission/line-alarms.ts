import { type Backoff, backoffMs } from '../kit/backoff.ts';
import { entryIn } from '../kit/entry-in.ts';

/** Between steps that fail. */
const RETRY: Backoff = { minMs: 25, maxMs: 100 };
/** The longest time that a timer takes. */
const TIMER_MS_MAX = 2 ** 31 - 1;
const NEVER_MS = Number.POSITIVE_INFINITY;

/** One timer for each organization with waiters in this process: when it rings, the organization's line is moved. */
export interface LineAlarms {
  /** Null: nothing is expected. */
  set(organizationId: string, inMs: number | null): void;
  /** Releases may have been lost: moves the line now, then asks again for those who wait. */
  doubt(organizationId: string): void;
  stop(): void;
}

export interface AlarmDeps {
  readonly step: (organizationId: string) => Promise<void>;
  /** Rejects when the engine cannot be asked. */
  readonly askAgain: (organizationId: string) => Promise<void>;
  readonly someoneWaits: (organizationId: string) => boolean;
  readonly monotonicMs: () => number;
  readonly random: () => number;
  readonly warn: (error: unknown, message: string) => void;
}

export function createLineAlarms(deps: AlarmDeps): LineAlarms {
  const alarms = new Map<string, Alarm>();

  function alarmOf(organizationId: string): Alarm {
    return entryIn(alarms, organizationId, () =>
      createAlarm(deps, organizationId, () => alarms.delete(organizationId)),
    );
  }

  return {
    set(organizationId, inMs) {
      if (inMs === null) alarms.get(organizationId)?.cancel();
      else alarmOf(organizationId).set(inMs);
    },
    doubt: (organizationId) => alarmOf(organizationId).doubt(),
    stop() {
      for (const alarm of alarms.values()) alarm.stop();
      alarms.clear();
    },
  };
}

interface Alarm {
  set(inMs: number): void;
  cancel(): void;
  doubt(): void;
  stop(): void;
}

/** `drop`: no request of the organization waits any more. */
function createAlarm(deps: AlarmDeps, organizationId: string, drop: () => void): Alarm {
  let timer: NodeJS.Timeout | undefined;
  /** The line is being moved. */
  let ringing = false;
  /** When it rings, or, while it rings, when it rings next. */
  let atMs = NEVER_MS;
  /** Steps that failed in a row. */
  let failures = 0;
  let doubted = false;

  function setAt(newMs: number): void {
    atMs = newMs;
    clearTimeout(timer);
    if (ringing || atMs === NEVER_MS) return;
    const inMs = Math.min(TIMER_MS_MAX, Math.max(0, Math.ceil(atMs - deps.monotonicMs())));
    timer = setTimeout(() => void ring(), inMs);
  }

  async function ring(): Promise<void> {
    if (!deps.someoneWaits(organizationId)) return drop();
    ringing = true;
    atMs = NEVER_MS;
    try {
      await deps.step(organizationId);
      if (doubted) {
        doubted = false;
        await deps.askAgain(organizationId);
      }
      failures = 0;
    } catch (error) {
      deps.warn(error, 'cannot release waiting requests until the store responds');
      // The step may have run, and its releases are lost with its answer.
      doubted = true;
      atMs = deps.monotonicMs() + backoffMs(RETRY, failures, deps.random);
      failures += 1;
    }
    ringing = false;
    if (deps.someoneWaits(organizationId)) setAt(atMs);
    else drop();
  }

  return {
    set(inMs) {
      const newMs = deps.monotonicMs() + inMs;
      if (ringing) atMs = Math.min(atMs, newMs);
      // In doubt it rings soon anyway.
      else if (!doubted) setAt(newMs);
    },
    cancel() {
      if (ringing || doubted) return;
      clearTimeout(timer);
      drop();
    },
    doubt() {
      if (doubted) return;
      doubted = true;
      setAt(deps.monotonicMs());
    },
    stop: () => clearTimeout(timer),
  };
}
