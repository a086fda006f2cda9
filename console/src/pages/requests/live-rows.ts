import type { RequestLogEntry } from '@relay/contract';

/** What the stream has told since the list was read. All of it is bounded, however long the page stays open. */
export interface LiveRows {
  /** Shown above the list, newest first. */
  readonly shown: readonly RequestLogEntry[];
  /** Told while somebody was reading further down; shown when they come back. */
  readonly held: readonly RequestLogEntry[];
  /** More was told than is kept: what is missing is in the list once that is read again. */
  readonly isCut: boolean;
}

export const noLiveRows: LiveRows = { shown: [], held: [], isCut: false };

const SHOWN_MAX = 1_000;
const HELD_MAX = 1_000;

/** Takes in what was told. A request that is told twice, as after a break, is there once. */
export function addRows(before: LiveRows, entries: readonly RequestLogEntry[], isHolding: boolean): LiveRows {
  if (isHolding) {
    const held = merged(entries, before.held);
    return { ...before, held: held.slice(0, HELD_MAX), isCut: before.isCut || held.length > HELD_MAX };
  }
  const shown = merged(entries, before.shown);
  return { ...before, shown: shown.slice(0, SHOWN_MAX), isCut: before.isCut || shown.length > SHOWN_MAX };
}

/** Shows what was held back. */
export function releaseRows(before: LiveRows): LiveRows {
  return before.held.length === 0 ? before : { ...addRows(before, before.held, false), held: [] };
}

/**
 * Those that the list does not have. The list is read after they were told or before; below its last row they are left out,
 * since the pages that come will have them.
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

/** Ids are in the order of arrival, and the list is newest first. */
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
