import type { Kysely } from 'kysely';
import { smallestUuidAt, uuidTimeMs } from '../../../kit/uuid-time.ts';
import type { Database } from '../../postgres/schema.ts';
import type { LogSearch } from './log-search.ts';
import { type EntryRow, ledgerStartId, readRange } from './read-log.ts';

const DAY_MS = 86_400_000;
/**
 * PostgreSQL plans a statement for every partition it may touch, and planning hundreds takes longer than reading them. The
 * newest days fill most pages, so a walk starts with one day and widens as it goes back.
 */
const DAYS_FIRST = 1;
const DAYS_GROWTH = 4;
const DAYS_MAX = 32;

export interface Step {
  readonly rows: EntryRow[];
  /** Where the next step begins; null when this was the last. */
  readonly belowId: string | null;
  /** True when the statement reached its row bound before it found enough rows. These steps cost the most. */
  readonly cutShort: boolean;
}

export interface Walk {
  /** The next matching rows, at most `limit` and possibly none; undefined when the walk has ended. */
  next(limit: number): Promise<Step | undefined>;
}

/** Reads the log from the newest request to the oldest, in statements of bounded cost. */
export function startWalk(db: Kysely<Database>, search: LogSearch, nowMs: number): Walk {
  let belowId: string | null = search.impossible ? null : search.beforeId;
  let days = DAYS_FIRST;
  /** The start of the days that the current steps read. */
  let fromId: string | undefined;
  let bottomId: string | undefined;

  function daysBelow(id: string, lowest: string): string {
    const topMs = Math.min(uuidTimeMs(id), nowMs);
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

function greater(one: string, other: string): string {
  return one > other ? one : other;
}
