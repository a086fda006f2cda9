import type { AdmissionAsk, Refusal } from './engine.ts';
import { guardMs } from './memory/promise.ts';
import { RETRY_UNKNOWN_MS, refusal } from './refusal.ts';

/** What a candidate could offer the request if it is alone. */
export interface Placement {
  /** The earliest moment at which every window has room. */
  readonly slotMs: number;
  /** The limit that pushed the moment furthest; null for a cooldown or no delay. */
  readonly boundBy: string | null;
  /** A limit that is smaller than the request alone. */
  readonly exceeds: string | null;
  /** A concurrency limit without a free unit. */
  readonly blockedBy: string | null;
}

export type Choice =
  | { readonly kind: 'now' | 'later'; readonly candidate: number; readonly slotMs: number }
  | { readonly kind: 'line'; readonly candidate: number; readonly slotMs: number; readonly policyId: string }
  | Refusal;

type Budget = Pick<AdmissionAsk, 'selection' | 'waitMsMax'>;

/**
 * What the engine would decide about a request that is alone. `preferred`: the first candidate that is free now or can be
 * promised within the wait budget. `soonest`: the first that is free now, else the one with the earliest moment, since who waits
 * may go at any candidate. For the routing explanation, and for requests without limits while the engine is unavailable.
 */
export function choose(ask: Budget, placements: readonly Placement[], nowMs: number): Choice {
  const untilMs = nowMs + ask.waitMsMax - guardMs(ask);
  const isFree = ({ slotMs, exceeds, blockedBy }: Placement) =>
    exceeds === null && blockedBy === null && slotMs <= nowMs;
  const isInTime = ({ slotMs, exceeds }: Placement) =>
    exceeds === null && ask.waitMsMax > 0 && slotMs <= untilMs;
  const index =
    ask.selection === 'preferred'
      ? placements.findIndex((each) => isFree(each) || isInTime(each))
      : soonestOf(placements, isFree, isInTime);
  const chosen = placements[index];
  if (chosen === undefined) return refuse(ask, placements, nowMs);
  const { slotMs, blockedBy } = chosen;
  if (blockedBy !== null) return { kind: 'line', candidate: index, slotMs, policyId: blockedBy };
  return { kind: slotMs > nowMs ? 'later' : 'now', candidate: index, slotMs };
}

function soonestOf(
  placements: readonly Placement[],
  isFree: (each: Placement) => boolean,
  isInTime: (each: Placement) => boolean,
): number {
  const free = placements.findIndex(isFree);
  if (free >= 0) return free;
  const timed = earliestOf(placements, (each) => isInTime(each) && each.blockedBy === null);
  return timed >= 0 ? timed : placements.findIndex(isInTime);
}

/** -1: there is none. */
function earliestOf(placements: readonly Placement[], counts: (each: Placement) => boolean): number {
  let best = -1;
  for (const [index, each] of placements.entries())
    if (counts(each) && (best < 0 || each.slotMs < (placements[best]?.slotMs ?? 0))) best = index;
  return best;
}

/** A retry is accepted as soon as the moment lies within its wait budget. */
function refuse(ask: Budget, placements: readonly Placement[], nowMs: number): Refusal {
  const best = placements[earliestOf(placements, ({ exceeds }) => exceeds === null)];
  if (best === undefined) return refusal('exceeds_limit', 0, placements[0]?.exceeds ?? null, 0);
  const { slotMs, boundBy, blockedBy } = best;
  const retryAfterMs = Math.max(1, slotMs + guardMs(ask) - nowMs - ask.waitMsMax);
  const resetMs = slotMs - nowMs;
  if (blockedBy === null) return refusal('wait_budget', retryAfterMs, boundBy, resetMs);
  const [retryMs, freeMs] = [retryAfterMs, resetMs].map((ms) => Math.max(RETRY_UNKNOWN_MS, ms));
  return refusal('wait_budget', retryMs ?? 0, blockedBy, freeMs ?? 0);
}
