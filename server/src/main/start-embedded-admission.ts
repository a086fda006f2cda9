import { type AdmissionDesk, createDesk } from '../admission/desk.ts';
import type { AdmissionEngine, Opening } from '../admission/engine.ts';
import { createEndpointHealth } from '../admission/health/endpoint-health.ts';
import { createMemoryHealthStore } from '../admission/health/health-store.ts';
import { relayTo } from '../admission/line.ts';
import { createLocalCooldowns } from '../admission/local-cooldowns.ts';
import { createMemoryEngine } from '../admission/memory/engine.ts';
import { SHORT_WINDOW_MS } from '../admission/rebuild-windows.ts';
import type { AppliedLimit } from '../domain/limits/limit.ts';
import type { Log } from '../kit/log.ts';
import { createSetAside } from '../kit/set-aside.ts';
import type { LedgerJournal } from '../metering/journal/index.ts';
import type { RunningAdmission } from './start-admission.ts';
import { calendarOpenings, type OpeningParts, shortOpenings } from './window-openings.ts';

const SWEEP_MS = 1_000;

export interface EmbeddedAdmissionParts extends OpeningParts {
  readonly log: Log;
  readonly ledger: LedgerJournal;
  /** Wraps the engine to measure it. */
  readonly timed?: (engine: AdmissionEngine) => AdmissionEngine;
}

export interface EmbeddedAdmission extends RunningAdmission {
  /** No request is in flight or queued, and no usage is unwritten. */
  isIdle(): boolean;
}

/**
 * The limits engine in memory, for a deployment of one process. The journal on disk replaces what Redis would keep: the
 * draft of every request before its dispatch, and its settlement until it is in the ledger.
 */
export function createEmbeddedAdmission(parts: EmbeddedAdmissionParts): EmbeddedAdmission {
  const { clock, log, ledger } = parts;
  const aside = createSetAside(log);
  // Requests that the previous process dispatched are in the ledger and still count toward windows.
  const startedMs = clock.nowMs();
  const engine = createMemoryEngine({
    clock,
    append: ledger.settlement,
    appendExpired: (draft, candidate) => ledger.expired(requestIdOf(draft), draft, candidate),
    line: relayTo(() => desk),
    shortWindowsUnknownUntilMs: startedMs + SHORT_WINDOW_MS,
  });
  const openings = async (organizationId: string, policies: readonly AppliedLimit[]): Promise<Opening[]> => [
    ...(await calendarOpenings(parts, organizationId, policies)),
    ...(await shortOpenings(parts, organizationId, policies, startedMs - SHORT_WINDOW_MS)),
  ];
  const desk: AdmissionDesk = createDesk({
    engine: parts.timed?.(engine) ?? engine,
    local: createLocalCooldowns({
      clock,
      channel: { announce: () => undefined, subscribe: () => undefined },
    }),
    append: ledger.record,
    journal: ledger,
    keepDraft: ledger.draft,
    openings,
    clock,
    log,
  });
  const health = createEndpointHealth({ store: createMemoryHealthStore({ clock }), clock, log });
  let sweeper: NodeJS.Timeout | null = null;

  return {
    desk,
    engine,
    health,
    async limitUsage(organizationId, policies) {
      // After a start, most windows are not loaded yet. Load them, so that a used budget does not show as unused.
      const unknown = engine.unknown(organizationId, policies);
      if (unknown.length > 0)
        await engine.initialize(organizationId, await openings(organizationId, unknown));
      return engine.usage(organizationId, policies);
    },
    liveTraffic: desk.traffic,
    counts: () => ({ ...desk.counts(), unsent: 0 }),
    spoolState: ledger.state,
    setAside: aside.counts,
    isIdle: () => engine.leases() === 0 && ledger.backlog().entries === 0,
    startSweeping() {
      sweeper ??= setInterval(() => void engine.sweep(), SWEEP_MS);
    },
    prepare: ledger.recover,
    async start() {
      desk.start();
      await health.start();
    },
    async stop(timeoutMs) {
      const unsettled = await desk.stop(timeoutMs / 2);
      if (sweeper !== null) clearInterval(sweeper);
      await health.stop();
      const { kept, lost } = await ledger.stop(timeoutMs / 2);
      return { kept, lost: lost + unsettled };
    },
  };
}

function requestIdOf(draft: string): string {
  const { requestId }: { requestId: string } = JSON.parse(draft);
  return requestId;
}
