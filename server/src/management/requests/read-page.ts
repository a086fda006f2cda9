import { createHash } from 'node:crypto';
import type { EntryRow } from '../../store/ledger/log/read-log.ts';
import type { Walk } from '../../store/ledger/log/walk-log.ts';
import { isId } from '../resources/refusals.ts';

/** Steps that one page may take. A step that passes over rows without finding enough costs as much as several. */
const EFFORT_MAX = 20;
const CUT_SHORT_EFFORT = 10;

export interface Page {
  readonly rows: EntryRow[];
  /** Where the next page begins; null when there is none. */
  readonly belowId: string | null;
}

/** One page. Where matches are rare it may be shorter than asked for and still not be the last. */
export async function readPage(walk: Walk, limit: number): Promise<Page> {
  const rows: EntryRow[] = [];
  let belowId: string | null = null;
  let effort = 0;
  // One row more than asked for tells whether there is a next page.
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

const CHECK_BYTES = 8;

/** A position in the log of one organization. */
export function cursorOf(organizationId: string, belowId: string): string {
  return Buffer.concat([bytesOf(belowId), checkOf(organizationId, belowId)]).toString('base64url');
}

/** Null for text that this log did not give out, that of another organization included. */
export function positionOf(organizationId: string, cursor: string): string | null {
  const hex = Buffer.from(cursor, 'base64url').toString('hex').slice(0, 32);
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return isId(id) && cursorOf(organizationId, id) === cursor ? id : null;
}

function bytesOf(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

function checkOf(organizationId: string, id: string): Buffer {
  return createHash('sha256').update(`${organizationId} ${id}`).digest().subarray(0, CHECK_BYTES);
}
