import type { Kysely } from 'kysely';
import { smallestUuidAt, timeOfRequestId } from '../../store/ledger/ledger-partitions.ts';
import type { Database } from '../../store/postgres/schema.ts';
import {
  type EntryRow,
  entriesQuery,
  type IdRange,
  isScanned,
  ledgerStartId,
  scanEndQuery,
} from './queries.ts';
import type { RequestSearch } from './search.ts';

const DAY_MS = 86_400_000;
/**
 * PostgreSQL plans a statement for every partition that it may touch, and several hundred of them take longer to plan than to
 * read. Most pages are filled by the newest days, so a walk begins with one and takes more at a time as it goes back.
 */
const DAYS_FIRST = 1;
const DAYS_GROWTH = 4;
const DAYS_MAX = 32;

export interface Step {
  readonly rows: EntryRow[];
  /** Where the next step begins; null when this was the last. */
  readonly belowId: string | null;
  /** Whether rows were passed over without an end in sight: the dearest kind of step. */
  readonly cutShort: boolean;
}

export interface Walk {
  /** The next rows that match, at most `limit` and possibly none; undefined when the walk is over. */
  next(limit: number): Promise<Step | undefined>;
}

/** Goes through the log from the newest request to the oldest, in statements of bounded effort. */
export function startWalk(db: Kysely<Database>, search: RequestSearch, nowMs: number): Walk {
  let belowId: string | null = search.impossible ? null : search.beforeId;
  let days = DAYS_FIRST;
  /** The beginning of the days that are being gone through. */
  let fromId: string | undefined;
  let bottomId: string | undefined;

  function daysBelow(id: string, lowest: string): string {
    const topMs = Math.min(timeOfRequestId(id), nowMs);
    return greater(smallestUuidAt(Math.max(0, topMs - days * DAY_MS)), lowest);
  }

  return {
    async next(limit) {
      if (belowId === null) return undefined;
      bottomId ??= greater(search.fromId, (await ledgerStartId(db)) ?? search.beforeId);
      fromId ??= daysBelow(belowId, bottomId);
      const { rows, endId } = await readRange(db, search, { fromId, belowId }, limit);
      const cutShort = endId !== null && rows.length < limit;
      if (endId === null) {
        days = Math.min(days * DAYS_GROWTH, DAYS_MAX);
        belowId = fromId > bottomId ? fromId : null;
        fromId = undefined;
      } else belowId = endId;
      return { rows, belowId, cutShort };
    },
  };
}

/** The rows, and the id at which reading stopped; null when the range has no more. */
async function readRange(
  db: Kysely<Database>,
  search: RequestSearch,
  range: IdRange,
  limit: number,
): Promise<{ rows: EntryRow[]; endId: string | null }> {
  const rows = await entriesQuery(db, search, range, limit).execute();
  if (rows.length >= limit) return { rows, endId: rows.at(-1)?.request_id ?? null };
  if (!isScanned(search)) return { rows, endId: null };
  const end = await scanEndQuery(db, search, range).executeTakeFirst();
  if (end === undefined) return { rows, endId: null };
  // Requests recorded between the two statements may have moved the end up; what lies below it comes again in the next step.
  return { rows: rows.filter(({ request_id }) => request_id >= end.request_id), endId: end.request_id };
}

function greater(one: string, other: string): string {
  return one > other ? one : other;
}
