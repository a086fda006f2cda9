import { rejectsWhenFull } from '../../parts/limit-metrics.ts';
import type { LimitRow } from './limit-row.ts';

/** `full`: requests wait for room, which comes back as others end or age. `exhausted`: requests are rejected until the reset. */
export type LimitState = 'exhausted' | 'full' | 'close' | 'enabled' | 'disabled';

/** The state of a limit and the server's forecast. */
export interface Outlook {
  readonly state: LimitState;
  /** The remaining share of the limit, from 0 to 1. */
  readonly leftShare: number;
  /** When the limit will be exhausted; null if not before the reset, or unknown. */
  readonly runsOutMs: number | null;
}

const CLOSE_SHARE = 0.2;

export function outlookOf(row: LimitRow, nowMs: number): Outlook {
  const { usage, enabled } = row;
  if (!enabled) return { state: 'disabled', leftShare: 1, runsOutMs: null };
  if (usage === null)
    return { state: row.limit === 0 ? 'exhausted' : 'enabled', leftShare: 1, runsOutMs: null };
  const leftShare = usage.limit === 0 ? 0 : usage.remaining / usage.limit;
  // Being full is normal for these, and lasts for seconds.
  if (!rejectsWhenFull(row))
    return { state: usage.remaining === 0 ? 'full' : 'enabled', leftShare, runsOutMs: null };
  if (usage.remaining === 0) return { state: 'exhausted', leftShare, runsOutMs: nowMs };
  const state = leftShare <= CLOSE_SHARE ? 'close' : 'enabled';
  return { state, leftShare, runsOutMs: usage.runs_out_at === null ? null : Date.parse(usage.runs_out_at) };
}

export interface Standing {
  readonly row: LimitRow;
  readonly outlook: Outlook;
}

/** Calendar limits first, the least remaining share and then the earlier exhaustion first. What changes from second to second has a fixed order after them. */
export function listedBefore(a: Standing, b: Standing): number {
  return (
    Number(b.row.enabled) - Number(a.row.enabled) ||
    Number(rejectsWhenFull(b.row)) - Number(rejectsWhenFull(a.row)) ||
    (rejectsWhenFull(a.row) ? tighterThan(a, b) : 0) ||
    a.row.id.localeCompare(b.row.id)
  );
}

/** Less than 0 if `a` has the smaller remaining share, or as much and the earlier exhaustion. */
export function tighterThan({ outlook: a }: Standing, { outlook: b }: Standing): number {
  return a.leftShare - b.leftShare || sooner(a.runsOutMs, b.runsOutMs);
}

/** To sort by state: those that reject first; the same for all limits that only make requests wait, so that no row moves by itself. */
export function severityOf({ row, outlook: { state, runsOutMs } }: Standing): number {
  if (state === 'exhausted') return 3;
  if (state === 'close' || runsOutMs !== null) return 2;
  return row.enabled ? 1 : 0;
}

function sooner(a: number | null, b: number | null): number {
  if (a === b) return 0;
  return (a ?? Number.POSITIVE_INFINITY) - (b ?? Number.POSITIVE_INFINITY);
}
