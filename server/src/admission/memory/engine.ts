import type { AppliedLimit } from '../../domain/limits/limit.ts';
import type { Clock } from '../../kit/clock.ts';
import type { AdmissionEngine, LineListener, SettleAsk } from '../engine.ts';
import { admit, restore } from './admit.ts';
import { policiesOf, revive } from './lease.ts';
import { changeLimits } from './limits.ts';
import type { Call } from './model.ts';
import { type EngineMemory, openCall, settle, takeBack } from './operations.ts';
import { nextSlotMs, wakeAtMs } from './places.ts';
import { emptyState, unknownWindows } from './state.ts';
import { step } from './step.ts';
import { sweep } from './sweep.ts';
import { initializeWindows, recountWindows, spendAgain, usageOf } from './usage.ts';

export interface MemoryEngineDeps {
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Takes the terminal record of a settled operation. */
  readonly append: (settlement: SettleAsk) => void;
  /** Takes the draft of an operation whose lease expired after it was dispatched. */
  readonly appendExpired: (draft: string, candidate: number) => void;
  readonly line: LineListener;
  /**
   * Until then a short window that is not in memory may hold requests that an earlier process dispatched, so it has to be
   * initialized too. Without it, short windows start empty.
   */
  readonly shortWindowsUnknownUntilMs?: number;
}

/** What a copy of an engine continues with. */
export type Remembered = Pick<EngineMemory, 'states' | 'leases' | 'late' | 'time'>;

export interface MemoryEngine extends AdmissionEngine {
  /** Those of these limits whose windows have to be initialized. */
  unknown(organizationId: string, limits: readonly AppliedLimit[]): AppliedLimit[];
  /** How many operations hold capacity or wait for it. */
  leases(): number;
  /** Everything it remembers, as plain data; for those who judge it. */
  readonly memory: Remembered;
}

/**
 * The rules in readable form, in one process: a single-machine deployment runs this engine, and the Redis engine is
 * compared with it. A step is atomic because its code awaits nothing.
 */
export function createMemoryEngine(deps: MemoryEngineDeps, remembered?: Remembered): MemoryEngine {
  const memory = createMemory(deps, remembered);
  const { leases } = memory;

  const run: Run = (organizationId, change) => {
    const call = openCall(memory, organizationId);
    const result = change(call);
    tell(deps.line, [call]);
    return result;
  };

  return {
    unknown: memory.unknown,
    leases: () => leases.size,
    memory,
    admit: async (ask) => run(ask.organizationId, (call) => admit(call, ask, memory)),
    async settle(ask) {
      deps.append(ask);
      return run(ask.organizationId, (call) => settle(call, ask));
    },
    void: async (organizationId, operationId) => run(organizationId, (call) => takeBack(call, operationId)),
    step: async (organizationId) => run(organizationId, step),
    changeLimits: async (organizationId, version, changes) =>
      run(organizationId, (call) => {
        changeLimits(call, version, changes);
        step(call);
      }),
    ...restoring(memory, run),
    async extend(_organizationId, operationIds, leaseMs) {
      const now = memory.nowMs();
      return operationIds.filter((id) => {
        const lease = leases.get(id);
        if (lease !== undefined) lease.expiresMs = Math.max(lease.expiresMs, now + leaseMs);
        return lease === undefined;
      });
    },
    penalize: async (organizationId, endpointId, forMs) =>
      run(organizationId, ({ state: { cooldowns }, nowMs }) => {
        cooldowns.set(endpointId, Math.max(nowMs + forMs, cooldowns.get(endpointId) ?? 0));
      }),
    async sweep() {
      const { ended, ran } = sweep(memory, deps.appendExpired);
      tell(deps.line, ran);
      return ended;
    },
    initialize: async (organizationId, openings) =>
      run(organizationId, (call) => initializeWindows(call, openings)),
    recount: async (organizationId, recounts) =>
      run(organizationId, (call) => {
        const changed = recountWindows(call, recounts);
        step(call);
        return changed;
      }),
    async usage(organizationId, limits) {
      const call = openCall(memory, organizationId);
      return limits.map((limit) => usageOf(call, limit));
    },
    nextSlots: async (organizationId, ids) => slotsOf(openCall(memory, organizationId), ids),
  };
}

type Run = <T>(organizationId: string, change: (call: Call) => T) => T;

/** Restores operations and earlier attempts of a lost engine. Their calls return false if windows have to be initialized first. */
function restoring(memory: EngineMemory, run: Run): Pick<AdmissionEngine, 'restore' | 'restoreUses'> {
  /** Operations whose earlier attempts were restored. */
  const restored = new Set<string>();
  return {
    async restore(ask, candidate, agoMs) {
      if ((memory.leases.get(ask.operationId)?.state ?? 'tried') !== 'tried') return true;
      const late = memory.late.get(ask.operationId);
      if (late !== undefined) {
        run(ask.organizationId, (call) => revive(call, late, ask, call.nowMs));
        return true;
      }
      if (memory.unknown(ask.organizationId, policiesOf(ask.candidates)).length > 0) return false;
      run(ask.organizationId, (call) => restore(call, ask, candidate, agoMs, memory.nextSeq()));
      return true;
    },
    async restoreUses(organizationId, operationId, uses) {
      if (restored.has(operationId)) return true;
      if (memory.unknown(organizationId, policiesOf([{ charges: uses }])).length > 0) return false;
      restored.add(operationId);
      run(organizationId, (call) => spendAgain(call, uses));
      return true;
    },
  };
}

function slotsOf(call: Call, operationIds: readonly string[]): (number | null)[] {
  return operationIds.map((operationId) => nextSlotMs(call, operationId));
}

/** Listeners are told after the step, so that they may call the engine. */
function tell(line: LineListener, ran: readonly Call[]): void {
  for (const { organizationId, state, hadLine, released, nowMs } of ran) {
    if (!hadLine && state.line === null) continue;
    const inMs = state.line === null ? null : Math.max(0, wakeAtMs(state.line) - nowMs);
    queueMicrotask(() => {
      for (const [operationId, release] of released) line.released(operationId, release);
      line.next(organizationId, inMs);
    });
  }
}

function createMemory(
  deps: MemoryEngineDeps,
  remembered: Remembered = {
    states: new Map(),
    leases: new Map(),
    late: new Map(),
    time: { lastMs: 0, shiftMs: 0 },
  },
): EngineMemory {
  const { time } = remembered;
  let lastSeq = Math.max(0, ...[...remembered.leases.values()].map(({ seq }) => seq));
  const memory: EngineMemory = {
    ...remembered,
    nowMs() {
      const clockMs = deps.clock.nowMs();
      time.lastMs = Math.max(time.lastMs, clockMs + time.shiftMs);
      time.shiftMs = time.lastMs - clockMs;
      return time.lastMs;
    },
    nextSeq() {
      lastSeq += 1;
      return lastSeq;
    },
    unknown(organizationId, limits) {
      const state = memory.states.get(organizationId) ?? emptyState(time);
      const nowMs = memory.nowMs();
      return unknownWindows(state, limits, nowMs >= (deps.shortWindowsUnknownUntilMs ?? 0), nowMs);
    },
  };
  return memory;
}
