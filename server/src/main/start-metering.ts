import type { Kysely } from 'kysely';
import { windowStartMs } from '../admission/calendar-window.ts';
import type { AdmissionEngine } from '../admission/engine.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { startBacklog } from '../metering/backlog.ts';
import { startLedgerWorker } from '../metering/ledger-worker.ts';
import { startReconciliation } from '../metering/reconcile.ts';
import type { Redis } from '../store/redis.ts';
import type { Database } from '../store/schema.ts';

export interface MeteringParts {
  readonly redis: Redis;
  readonly db: Kysely<Database>;
  readonly clock: Clock;
  readonly log: Log;
  /** Unique per process. */
  readonly consumer: string;
  readonly usage: AdmissionEngine['usage'];
  readonly retentionDays: number;
}

/** What a process of the worker role does: move usage to the ledger, and watch that nothing is missing there. */
export function startMetering(parts: MeteringParts) {
  const worker = startLedgerWorker(parts);
  const backlog = startBacklog(parts);
  const reconciliation = startReconciliation({ ...parts, windowStartMs });
  return {
    worker,
    backlog,
    reconciliation,
    /** For the health report: how far limits and ledger agree. */
    health() {
      const { drift, checked, unsettled, finishedAtMs } = reconciliation.state();
      const compared_at = finishedAtMs === null ? null : new Date(finishedAtMs).toISOString();
      return { drift, checked, unsettled, compared_at };
    },
    async stop(): Promise<void> {
      await Promise.all([worker.stop(), backlog.stop(), reconciliation.stop()]);
    },
  };
}
