import type { AdmissionAsk, Refusal } from './engine.ts';

/** Nobody knows when concurrency frees up; this is when asking again makes sense. */
export const RETRY_UNKNOWN_MS = 1_000;
/** Later than any slot. */
export const NEVER_MS = 9e15;

/** What a candidate could offer the request. */
export interface Placement {
  /** The earliest moment at which every window has room. */
  readonly slotMs: number;
  /** The policy that pushed the slot furthest; null for a cooldown, the order of the queue, or nothing. */
  readonly boundBy: string | null;
  /** A policy whose limit is smaller than the request alone. */
  readonly exceeds: string | null;
  /** A concurrency policy without a free unit, where the slot is now. */
  readonly blockedBy: string | null;
}

export type Choice =
  | { readonly kind: 'now' | 'later'; readonly candidate: number; readonly slotMs: number }
  | { readonly kind: 'line'; readonly candidate: number; readonly slotMs: number; readonly policyId: string }
  | Refusal;

/**
 * `preferred` takes the first candidate whose slot fits the wait budget; `soonest` the first that is free now, else
 * the one with the earliest slot. A slot with a time beats a place in line, and a place in line beats a refusal.
 */
export function choose(
  ask: Pick<AdmissionAsk, 'selection' | 'waitMsMax'>,
  placements: readonly Placement[],
  nowMs: number,
): Choice {
  const deadlineMs = nowMs + ask.waitMsMax;
  let fitting = -1;
  let blocked = -1;
  let soonest = -1;
  for (const [index, { slotMs, exceeds, blockedBy }] of placements.entries()) {
    if (exceeds !== null) continue;
    if (blockedBy !== null) {
      if (blocked < 0) blocked = index;
      continue;
    }
    if (fitting < 0 && slotMs <= deadlineMs) fitting = index;
    if (soonest < 0 || slotMs < (placements[soonest]?.slotMs ?? 0)) soonest = index;
  }
  if (fitting >= 0) {
    const candidate = ask.selection === 'soonest' ? soonest : fitting;
    const slotMs = placements[candidate]?.slotMs ?? nowMs;
    return { kind: slotMs > nowMs ? 'later' : 'now', candidate, slotMs };
  }
  if (blocked >= 0) {
    const policyId = placements[blocked]?.blockedBy ?? '';
    if (ask.waitMsMax > 0) return { kind: 'line', candidate: blocked, slotMs: nowMs, policyId };
    return refusal('wait_budget', RETRY_UNKNOWN_MS, policyId, RETRY_UNKNOWN_MS);
  }
  const best = placements[soonest];
  if (best === undefined) return refusal('exceeds_limit', 0, placements[0]?.exceeds ?? null, 0);
  // Sent again when the slot has come into the budget's reach, the same request is accepted.
  return refusal('wait_budget', best.slotMs - deadlineMs, best.boundBy, best.slotMs - nowMs);
}

export function refusal(
  reason: Refusal['reason'],
  retryAfterMs: number,
  policyId: string | null,
  resetMs: number,
): Refusal {
  return { kind: 'refused', reason, retryAfterMs, policyId, resetMs };
}
