import type { Kysely } from 'kysely';
import type { Clock } from '../kit/clock.ts';
import { ensureLedgerPartitions, utcDayOf } from '../store/ledger/ledger-partitions.ts';
import type { Database } from '../store/postgres/schema.ts';

const DAYS_AHEAD = 7;
const DAY_MS = 86_400_000;

/** Creates the partitions of today and the next 7 days, once a day. */
export function createDaysAhead(deps: {
  readonly db: Kysely<Database>;
  readonly clock: Clock;
}): () => Promise<void> {
  let madeOn = '';
  return async () => {
    const nowMs = deps.clock.nowMs();
    const today = utcDayOf(nowMs);
    if (today === madeOn) return;
    await ensureLedgerPartitions(deps.db, today, utcDayOf(nowMs + DAYS_AHEAD * DAY_MS));
    madeOn = today;
  };
}
