import { uuidTimeMs } from '../kit/uuid-time.ts';
import { EXPIRING_TABLES, expiringOutbox, removeExpiredRows } from '../store/ledger/expired-rows.ts';
import { dropDaysBefore, newestRequestId, utcDayOf } from '../store/ledger/ledger-partitions.ts';
import { databaseTimeMs } from '../store/postgres/database-time.ts';
import type { WriteDeps } from './write-entries.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const SOON_MS = 60_000;
/** Batches per table in one run. The next run, a minute later, removes the rest. */
const BATCHES_MAX = 100;

export interface RetentionDeps extends Pick<WriteDeps, 'db' | 'log'> {
  /** Days that the ledger keeps its rows. */
  readonly ledgerDays: number;
}

/**
 * Drops expired days of the ledger and expired rollups, once an hour. Every worker tries; one at a time succeeds, and the next has
 * nothing left to remove.
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
      deps.log.warn({ err: error }, 'could not delete expired usage; will retry');
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

/** Returns whether all expired rows are removed. */
export async function applyRetention(
  { db, log, ledgerDays }: RetentionDeps,
  isStopping: () => boolean = () => false,
): Promise<boolean> {
  const agedAtMs = await agedAt(db);
  if (agedAtMs === null) return true;
  const { dropped, announced } = await dropDaysBefore(db, utcDayOf(agedAtMs - ledgerDays * DAY_MS));
  if (dropped.length > 0) log.info({ days: dropped }, 'dropped ledger days past the retention period');
  if (announced.length > 0)
    log.warn({ days: announced, ledgerDays }, 'these ledger days will be dropped in 1 hour');
  for (const table of [...EXPIRING_TABLES, expiringOutbox(ledgerDays)]) {
    for (let batches = 0; await removeExpiredRows(db, table, agedAtMs); batches += 1)
      if (batches >= BATCHES_MAX || isStopping()) return false;
  }
  return true;
}

/**
 * The moment at which ages are taken: by PostgreSQL's clock, but never later than the newest row. A clock that is ahead, whichever it is,
 * therefore removes nothing that its own time would have kept. Null while the ledger is empty: nothing has an age then.
 */
async function agedAt(db: RetentionDeps['db']): Promise<number | null> {
  const newest = await newestRequestId(db);
  return newest === null ? null : Math.min(await databaseTimeMs(db), uuidTimeMs(newest));
}
