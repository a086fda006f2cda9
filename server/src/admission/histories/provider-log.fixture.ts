import type { AppliedLimit } from '../../domain/limits/limit.ts';
import { amountOf, METRICS, type UsedAmounts } from '../../domain/limits/metric.ts';
import { type CalendarPeriod, isSliding } from '../../domain/limits/period.ts';
import { windowStartMs } from '../calendar-window.ts';
import type { CandidateAsk } from '../engine.ts';

const PERIOD_MS = { second: 1_000, minute: 60_000 } as const;

export interface Dispatch {
  readonly operationId: string;
  readonly sentMs: number;
  /** When the provider has it; later than any time until it has. */
  reachedMs: number;
  amount: number;
  /** The highest that the limit was between sending and reaching. */
  limit: number;
}

/** What the providers of one organization saw, by limit. Counts only; shares no arithmetic with the engines. */
export interface ProviderLog {
  readonly dispatches: Map<string, Dispatch[]>;
  readonly inFlight: Map<string, Set<string>>;
  /** Limits as they are configured now. */
  readonly limits: Map<string, AppliedLimit>;
}

export function emptyLog(): ProviderLog {
  return { dispatches: new Map(), inFlight: new Map(), limits: new Map() };
}

export function dispatchesOf(log: ProviderLog, policyId: string): Dispatch[] {
  const known = log.dispatches.get(policyId) ?? [];
  log.dispatches.set(policyId, known);
  return known;
}

/** Returns what went wrong: a concurrency limit that was exceeded. */
export function noteSent(
  log: ProviderLog,
  operationId: string,
  { charges }: CandidateAsk,
  atMs: number,
): string[] {
  const wrong: string[] = [];
  for (const { policy, cost } of charges) {
    const limit = log.limits.get(policy.id)?.limit ?? policy.limit;
    if (METRICS[policy.metric].held) {
      const held = log.inFlight.get(policy.id) ?? new Set<string>();
      log.inFlight.set(policy.id, held.add(operationId));
      if (held.size > limit) wrong.push(`windows: ${policy.id} has ${held.size} in flight of ${limit}`);
    } else {
      const entry = { operationId, sentMs: atMs, reachedMs: Number.POSITIVE_INFINITY, amount: cost, limit };
      dispatchesOf(log, policy.id).push(entry);
    }
  }
  return wrong;
}

/** The provider has it now: no interval that ends here may hold more than its limit. */
export function noteReached(
  log: ProviderLog,
  operationId: string,
  { charges }: CandidateAsk,
  atMs: number,
): string[] {
  return charges.flatMap(({ policy }) => {
    if (METRICS[policy.metric].held) return [];
    const all = dispatchesOf(log, policy.id);
    const entry = all.findLast((each) => each.operationId === operationId);
    if (entry === undefined) return [];
    entry.reachedMs = atMs;
    const sum = sumAround(all, policy, entry);
    const isOver = sum > entry.limit;
    return isOver ? [`windows: ${policy.id} ${sum} of ${entry.limit} ${policy.metric}/${policy.period}`] : [];
  });
}

function sumAround(all: readonly Dispatch[], { period }: AppliedLimit, entry: Dispatch): number {
  let sum = 0;
  for (const { sentMs, reachedMs, amount } of all) {
    if (reachedMs > entry.reachedMs) continue;
    const isCounted = isSliding(period)
      ? reachedMs > entry.reachedMs - PERIOD_MS[period]
      : windowStartMs(period as CalendarPeriod, sentMs) ===
        windowStartMs(period as CalendarPeriod, entry.sentMs);
    if (isCounted) sum += amount;
  }
  return sum;
}

/**
 * What it used counts from now on. Use beyond the estimate is not held against a limit, but takes room from others: the
 * limits where that happened are returned.
 */
export function noteEnded(
  log: ProviderLog,
  operationId: string,
  { charges }: CandidateAsk,
  actual: UsedAmounts | null,
  atMs: number,
): string[] {
  const overused: string[] = [];
  for (const { policy } of charges) {
    log.inFlight.get(policy.id)?.delete(operationId);
    if (METRICS[policy.metric].held) continue;
    const all = dispatchesOf(log, policy.id);
    const entry = all.findLast((each) => each.operationId === operationId);
    if (entry === undefined) continue;
    const used = actual === null ? 0 : amountOf(policy.metric, actual);
    const beyond = used - entry.amount;
    if (beyond > 0) {
      overused.push(policy.id);
      all.push({
        ...entry,
        operationId: '',
        // A calendar window counts what is dispatched in it.
        sentMs: isSliding(policy.period) ? atMs : entry.sentMs,
        reachedMs: Number.POSITIVE_INFINITY,
        amount: beyond,
      });
    } else entry.amount = used;
  }
  return overused;
}

export function noteLimit(log: ProviderLog, policy: AppliedLimit): void {
  log.limits.set(policy.id, policy);
  for (const each of dispatchesOf(log, policy.id))
    if (each.reachedMs === Number.POSITIVE_INFINITY) each.limit = Math.max(each.limit, policy.limit);
}

/** Forgets what no rule looks at any more. */
export function prune(log: ProviderLog, beforeMs: number): void {
  for (const [policyId, all] of log.dispatches) {
    const { period = 'minute' } = log.limits.get(policyId) ?? {};
    if (isSliding(period) && (all[0]?.sentMs ?? beforeMs) < beforeMs - 60_000)
      log.dispatches.set(
        policyId,
        all.filter(({ sentMs }) => sentMs >= beforeMs),
      );
  }
}
