import type { EntryRow } from '../../store/ledger/log/read-log.ts';
import type { Walk } from '../../store/ledger/log/walk-log.ts';

/**
 * The effort that one page may take. A step that stops at its row limit counts as `CUT_SHORT_EFFORT` steps.
 */
const EFFORT_MAX = 20;
const CUT_SHORT_EFFORT = 10;

export interface Page {
  readonly rows: EntryRow[];
  /** The next page starts below this id; null when there is none. */
  readonly belowId: string | null;
}

/** Reads one page. When matches are rare, it may be shorter than `limit` although more pages follow. */
export async function readPage(walk: Walk, limit: number): Promise<Page> {
  const rows: EntryRow[] = [];
  let belowId: string | null = null;
  let effort = 0;
  // One row more than requested shows whether there is a next page.
  while (rows.length <= limit && effort < EFFORT_MAX) {
    const step = await walk.next(limit + 1 - rows.length);
    if (step === undefined) break;
    rows.push(...step.rows);
    belowId = step.belowId;
    effort += step.cutShort ? CUT_SHORT_EFFORT : 1;
  }
  if (rows.length <= limit) return { rows, belowId };
  const page = rows.slice(0, limit);
  return { rows: page, belowId: page.at(-1)?.request_id ?? null };
}
