import type { AdmissionAsk, Refusal } from './engine.ts';
import { concurrencyRefusal, refusal } from './refusal.ts';

/** Later than any slot. */
export const NEVER_MS = 9e15;

/** What a candidate could offer the request. */
export interface Placement {
  /** The earliest moment at which every window has room. */
  readonly slotMs: number;
  /** The limit that pushed the slot furthest; null for a cooldown, the order of the queue, or no delay. */
  readonly boundBy: string | null;
  /** A limit that is smaller than the request alone. */
  readonly exceeds: string | null;
  /** A concurrency limit without a free unit, where the slot is now. */
  readonly blockedBy: string | null;
}

export type Choice =
  | { readonly kind: 'now' | 'later'; readonly candidate: number; readonly slotMs: number }
  | { readonly kind: 'line'; readonly candidate: number; readonly slotMs: number; readonly policyId: string }
  | Refusal;

/**
 * `preferred` takes the first candidate whose slot fits the wait budget; `soonest` takes the first that is free now, else
 * the one with the earliest slot. A slot with a known time is better than a place in line, which is better than a refusal.
 * The engines and the routing explanation both decide with this function; `redis/script/admit.lua` mirrors it.
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
    return concurrencyRefusal(policyId);
  }
  const best = placements[soonest];
  if (best === undefined) return refusal('exceeds_limit', 0, placements[0]?.exceeds ?? null, 0);
  // A retry is accepted as soon as the slot lies within its wait budget.
  return refusal('wait_budget', best.slotMs - deadlineMs, best.boundBy, best.slotMs - nowMs);
}
