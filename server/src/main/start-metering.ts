import type { Kysely } from 'kysely';
import { windowStartMs } from '../admission/calendar-window.ts';
import type { AdmissionEngine } from '../admission/engine.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import type { Sealer } from '../kit/seal.ts';
import { createIdleShards, createUntilWritten } from '../metering/compare-windows.ts';
import type { LedgerJournal } from '../metering/journal/index.ts';
import { startLedgerWorker } from '../metering/ledger-worker.ts';
import { type Reconciliation, startReconciliation } from '../metering/reconcile.ts';
import { startRetention } from '../metering/retention.ts';
import { startShardPatrol } from '../metering/shard-patrol.ts';
import type { Ledger } from '../metering/sinks/ledger-sink.ts';
import type { LedgerOwner } from '../metering/write-entries.ts';
import type { Database } from '../store/postgres/schema.ts';
import type { Redis } from '../store/redis/redis.ts';
import type { ConfiguredSinks } from './create-sinks.ts';

interface LedgerParts {
  readonly db: Kysely<Database>;
  readonly clock: Clock;
  readonly log: Log;
  readonly usage: AdmissionEngine['usage'];
  readonly recount: AdmissionEngine['recount'];
  readonly inFlight: AdmissionEngine['inFlight'];
  readonly retentionDays: number;
  readonly sinks: ConfiguredSinks;
}

export interface MeteringParts extends LedgerParts {
  readonly ledger: Ledger;
  readonly owner: LedgerOwner | undefined;
  readonly sealer: Sealer;
  readonly redis: Redis;
  /** Unique per process. */
  readonly consumer: string;
}

/** The worker role: moves usage to the ledger and its sinks, and compares the ledger with the limits. */
export function startMetering(parts: MeteringParts) {
  const worker = startLedgerWorker(parts);
  const patrol = startShardPatrol(parts);
  const isIdle = createIdleShards(parts.redis);
  const untilWritten = createUntilWritten(parts.redis);
  const reconciliation = startReconciliation({ ...parts, isIdle, untilWritten, windowStartMs });
  const followers = parts.sinks.follow(parts.db);
  return {
    worker,
    reconciliation,
    followers,
    health: () => healthOf(reconciliation),
    async stop(): Promise<void> {
      await Promise.all([worker.stop(), patrol.stop(), reconciliation.stop()]);
      await Promise.all(followers.map((follower) => follower.stop()));
    },
  };
}

export interface EmbeddedMeteringParts extends LedgerParts {
  readonly journal: LedgerJournal;
  readonly isIdle: () => boolean;
}

/** Metering with embedded stores, where the journal writes to the ledger itself: sinks, retention and comparison only. */
export function startEmbeddedMetering(parts: EmbeddedMeteringParts) {
  const { journal } = parts;
  const retention = startRetention({ ...parts, ledgerDays: parts.retentionDays });
  const isIdle = () => Promise.resolve(parts.isIdle());
  const reconciliation = startReconciliation({ ...parts, isIdle, windowStartMs });
  const followers = parts.sinks.follow(parts.db);
  return {
    worker: { counts: journal.counts },
    reconciliation,
    followers,
    health: () => healthOf(reconciliation),
    async stop(): Promise<void> {
      await Promise.all([retention.stop(), reconciliation.stop()]);
      await Promise.all(followers.map((follower) => follower.stop()));
    },
  };
}

function healthOf(reconciliation: Reconciliation) {
  const { drift, checked, unsettled, finishedAtMs } = reconciliation.state();
  const compared_at = finishedAtMs === null ? null : new Date(finishedAtMs).toISOString();
  return { drift, checked, unsettled, compared_at };
}
