import { dropLedgerPartitionsBefore, utcDayOf } from '../store/ledger/ledger-partitions.ts';
import { removeOldRows } from '../store/ledger/old-rows.ts';
import type { WriteDeps } from './write-entries.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const SOON_MS = 60_000;
/** So many batches of each table in one run; what is left goes in the next, a minute later. */
const BATCHES_MAX = 100;

/** What is removed by its age row by row. Sums of days are kept: they are few, and statements are made from them. */
const AGES = [
  { table: 'request_rollups_minute', column: 'bucket_start', days: 8 },
  { table: 'request_rollups_hour', column: 'bucket_start', days: 100 },
  { table: 'guardrail_rollups_minute', column: 'bucket_start', days: 8 },
  { table: 'guardrail_rollups_hour', column: 'bucket_start', days: 100 },
  { table: 'poisoned_usage', column: 'found_at', days: 100 },
] as const;

export interface RetentionDeps extends WriteDeps {
  /** How long rows of the ledger are kept. */
  readonly ledgerDays: number;
}

/**
 * Drops days of the ledger that are past their time, and old sums, once an hour. Every worker tries; one at a time does it,
 * and the next finds nothing left to do.
 */
export function startRetention(deps: RetentionDeps): { stop(): Promise<void> } {
  let stopping = false;
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();

  function schedule(delayMs: number): void {
    timer = setTimeout(() => {
      running = run();
    }, delayMs);
    timer.unref();
  }

  async function run(): Promise<void> {
    let isDone = false;
    try {
      isDone = await applyRetention(deps, () => stopping);
    } catch (error) {
      deps.log.warn({ err: error }, 'old usage cannot be removed; it is tried again');
    }
    if (!stopping) schedule(isDone ? HOUR_MS : SOON_MS);
  }

  schedule(SOON_MS);
  return {
    async stop() {
      stopping = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/** Answers whether nothing that is past its time is left. */
export async function applyRetention(
  { db, clock, log, ledgerDays }: RetentionDeps,
  isStopping: () => boolean = () => false,
): Promise<boolean> {
  const nowMs = clock.nowMs();
  const dropped = await dropLedgerPartitionsBefore(db, utcDayOf(nowMs - ledgerDays * DAY_MS));
  if (dropped.length > 0) log.info({ days: dropped }, 'days of the ledger past their time were dropped');
  for (const { table, column, days } of AGES) {
    const before = new Date(nowMs - days * DAY_MS);
    for (let batches = 0; await removeOldRows(db, table, column, before); batches += 1)
      if (batches >= BATCHES_MAX || isStopping()) return false;
  }
  return true;
}
