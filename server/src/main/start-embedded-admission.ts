import { createDesk } from '../admission/desk.ts';
import type { AdmissionEngine, Opening } from '../admission/engine.ts';
import { createLocalCooldowns } from '../admission/local-cooldowns.ts';
import { createMemoryEngine, type MemoryEngine } from '../admission/memory/engine.ts';
import type { AppliedLimit } from '../domain/limits/limit.ts';
import type { Log } from '../kit/log.ts';
import type { LedgerJournal } from '../metering/journal/index.ts';
import type { RunningAdmission } from './start-admission.ts';
import { calendarOpenings, type OpeningParts, shortOpenings } from './window-openings.ts';

const SWEEP_MS = 1_000;
/** As long as a minute is to the engine, and a bucket more. */
const SHORT_WINDOW_MS = 62_000;

export interface EmbeddedAdmissionParts extends OpeningParts {
  readonly log: Log;
  readonly ledger: LedgerJournal;
  /** Stands between the desk and the engine, to measure. */
  readonly timed?: (engine: AdmissionEngine) => AdmissionEngine;
}

export interface EmbeddedAdmission extends RunningAdmission {
  /** Nothing is under way, waits for its turn, or waits to be written. */
  isIdle(): boolean;
}

/**
 * The limits engine in this process, for a deployment that is this process. What Redis would keep beyond it is on disk: the
 * draft of every request before it is dispatched, and its end before it is in the ledger.
 */
export function createEmbeddedAdmission(parts: EmbeddedAdmissionParts): EmbeddedAdmission {
  const { clock, log, ledger } = parts;
  // What the process before this one dispatched is in the ledger, and still counts.
  const startedMs = clock.nowMs();
  const memory = createMemoryEngine({
    clock,
    append: ledger.settlement,
    appendExpired: (draft, candidate) => ledger.expired(requestIdOf(draft), draft, candidate),
    // Not in the middle of the engine's own step.
    wake: (operationId) => queueMicrotask(() => desk.woken(operationId)),
    shortWindowsUnknownUntilMs: startedMs + SHORT_WINDOW_MS,
  });
  const engine = journaled(memory, ledger);
  const openings = async (organizationId: string, policies: readonly AppliedLimit[]): Promise<Opening[]> => [
    ...(await calendarOpenings(parts, organizationId, policies)),
    ...(await shortOpenings(parts, organizationId, policies, startedMs - SHORT_WINDOW_MS)),
  ];
  const desk = createDesk({
    engine: parts.timed?.(engine) ?? engine,
    local: createLocalCooldowns({
      clock,
      channel: { announce: () => undefined, subscribe: () => undefined },
    }),
    append: ledger.record,
    journal: ledger,
    openings,
    clock,
    log,
  });
  let sweeper: NodeJS.Timeout | null = null;

  return {
    desk,
    engine,
    async limitUsage(organizationId, policies) {
      // After a start nobody has asked for most windows yet, and a budget is not unused because of that.
      const unknown = memory.unknown(organizationId, policies);
      if (unknown.length > 0)
        await memory.initialize(organizationId, await openings(organizationId, unknown));
      return memory.usage(organizationId, policies);
    },
    liveFlows: async (ask) => desk.flows(ask),
    counts: () => ({ ...desk.counts(), unsent: 0 }),
    spoolState: ledger.state,
    isIdle: () => memory.leases() === 0 && ledger.backlog().entries === 0,
    startSweeping() {
      sweeper ??= setInterval(() => void memory.sweep(), SWEEP_MS);
    },
    prepare: ledger.recover,
    async start() {
      desk.start();
    },
    async stop(timeoutMs) {
      const unsettled = await desk.stop(timeoutMs);
      if (sweeper !== null) clearInterval(sweeper);
      const { kept, lost } = await ledger.stop(timeoutMs);
      return { kept, lost: lost + unsettled };
    },
  };
}

/** Nobody is dispatched before it is written down. */
function journaled(memory: MemoryEngine, ledger: LedgerJournal): AdmissionEngine {
  return {
    ...memory,
    async admit(ask) {
      const answer = await memory.admit(ask);
      if (answer.kind !== 'admitted') return answer;
      const { organizationId, operationId, draft } = ask;
      try {
        ledger.draft({ organizationId, operationId, candidate: answer.candidate, draft }, memory.leases());
      } catch (error) {
        await memory.void(organizationId, operationId);
        throw error;
      }
      return answer;
    },
  };
}

function requestIdOf(draft: string): string {
  const { requestId }: { requestId: string } = JSON.parse(draft);
  return requestId;
}
