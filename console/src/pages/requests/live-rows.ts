import type { RequestLogEntry } from '@relay/contract';

/** Rows of the stream since the list was loaded. Bounded, however long the page stays open. */
export interface LiveRows {
  /** Shown above the list, newest first. */
  readonly shown: readonly RequestLogEntry[];
  /** Held back while the user is scrolled down. */
  readonly held: readonly RequestLogEntry[];
  /** Rows were dropped; a reload of the list shows them. */
  readonly isCut: boolean;
}

export const noLiveRows: LiveRows = { shown: [], held: [], isCut: false };

const SHOWN_MAX = 1_000;
const HELD_MAX = 1_000;

/** Adds rows of the stream and skips duplicates, which occur after reconnecting. */
export function addRows(before: LiveRows, entries: readonly RequestLogEntry[], isHolding: boolean): LiveRows {
  if (isHolding) {
    const held = merged(entries, before.held);
    return { ...before, held: held.slice(0, HELD_MAX), isCut: before.isCut || held.length > HELD_MAX };
  }
  const shown = merged(entries, before.shown);
  return { ...before, shown: shown.slice(0, SHOWN_MAX), isCut: before.isCut || shown.length > SHOWN_MAX };
}

/** Shows the rows held back. */
export function releaseRows(before: LiveRows): LiveRows {
  return before.held.length === 0 ? before : { ...addRows(before, before.held, false), held: [] };
}

/**
 * The rows that are not in the list. Rows older than its last row are left out, because later pages contain
 * them.
 */
export function notListed(
  told: readonly RequestLogEntry[],
  listed: readonly RequestLogEntry[],
  isWhole: boolean,
): readonly RequestLogEntry[] {
  const lowestId = isWhole ? '' : (listed.at(-1)?.request_id ?? '');
  const rest = told.filter(({ request_id: id }) => id > lowestId && !isListed(id, listed));
  return rest.length === told.length ? told : rest;
}

/** IDs sort by arrival, and the list is newest first. */
function isListed(id: string, listed: readonly RequestLogEntry[]): boolean {
  let from = 0;
  let to = listed.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    const found = listed[middle]?.request_id ?? '';
    if (found === id) return true;
    if (found > id) from = middle + 1;
    else to = middle;
  }
  return false;
}

function merged(
  entries: readonly RequestLogEntry[],
  before: readonly RequestLogEntry[],
): readonly RequestLogEntry[] {
  const byId = new Map(before.map((entry) => [entry.request_id, entry]));
  for (const entry of entries) byId.set(entry.request_id, entry);
  return [...byId.values()].sort((one, other) => (one.request_id < other.request_id ? 1 : -1));
}
