import type { LimitRow } from './limit-row.ts';

export type LimitState = 'exhausted' | 'close' | 'enabled' | 'disabled';

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
  if (usage.remaining === 0) return { state: 'exhausted', leftShare, runsOutMs: nowMs };
  const state = leftShare <= CLOSE_SHARE ? 'close' : 'enabled';
  return { state, leftShare, runsOutMs: usage.runs_out_at === null ? null : Date.parse(usage.runs_out_at) };
}

export interface Standing {
  readonly row: LimitRow;
  readonly outlook: Outlook;
}

/** Sorts by tightness: the least remaining share first, then the earlier exhaustion. */
export function bitesBefore(a: Standing, b: Standing): number {
  return (
    Number(b.row.enabled) - Number(a.row.enabled) ||
    a.outlook.leftShare - b.outlook.leftShare ||
    sooner(a.outlook.runsOutMs, b.outlook.runsOutMs) ||
    a.row.id.localeCompare(b.row.id)
  );
}

function sooner(a: number | null, b: number | null): number {
  if (a === b) return 0;
  return (a ?? Number.POSITIVE_INFINITY) - (b ?? Number.POSITIVE_INFINITY);
}
