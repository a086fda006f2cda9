import type { AppliedLimit } from '../../domain/limits/limit.ts';
import { METRICS } from '../../domain/limits/metric.ts';
import { type CalendarPeriod, isSliding } from '../../domain/limits/period.ts';
import { windowStartMs } from '../calendar-window.ts';

const PERIOD_MS = { second: 1_000, minute: 60_000 } as const;

interface Dispatch {
  readonly operationId: string;
  readonly atMs: number;
  /** The promised slot, by which calendar windows count. */
  readonly slotMs: number;
  amount: number;
}

/**
 * Counts dispatches as a provider would, without the arithmetic of the engines, and reports every limit that was
 * exceeded.
 */
export class Oracle {
  readonly #byPolicy = new Map<string, { policy: AppliedLimit; dispatches: Dispatch[] }>();
  readonly #inFlight = new Map<string, Set<string>>();
  violations: string[] = [];

  /** A limit that changed is checked from here on only. */
  forget(organizationId: string, policyId: string): void {
    this.#byPolicy.delete(keyOf(organizationId, policyId));
  }

  dispatched(
    organizationId: string,
    policy: AppliedLimit,
    operationId: string,
    atMs: number,
    slotMs: number,
    cost: number,
  ): void {
    const key = keyOf(organizationId, policy.id);
    if (METRICS[policy.metric].held) {
      const inFlight = this.#inFlight.get(key) ?? new Set();
      this.#inFlight.set(key, inFlight.add(operationId));
      if (inFlight.size > policy.limit)
        this.violations.push(`${policy.id}: ${inFlight.size} in flight of ${policy.limit}`);
      return;
    }
    const known = this.#byPolicy.get(key) ?? { policy, dispatches: [] };
    this.#byPolicy.set(key, known);
    known.dispatches.push({ operationId, atMs, slotMs, amount: cost });
    this.#check(known.policy, known.dispatches, atMs, slotMs);
  }

  /** Usage beyond the estimate is allowed, so it is not counted. */
  used(organizationId: string, policyId: string, operationId: string, amount: number): void {
    const known = this.#byPolicy.get(keyOf(organizationId, policyId));
    const dispatch = known?.dispatches.findLast((each) => each.operationId === operationId);
    if (dispatch !== undefined) dispatch.amount = Math.min(dispatch.amount, amount);
  }

  ended(organizationId: string, policyId: string, operationId: string): void {
    this.#inFlight.get(keyOf(organizationId, policyId))?.delete(operationId);
  }

  #check(policy: AppliedLimit, dispatches: Dispatch[], atMs: number, slotMs: number): void {
    const { period } = policy;
    if (isSliding(period)) {
      const oldestMs = atMs - PERIOD_MS[period];
      const kept = dispatches.filter((each) => each.atMs > oldestMs);
      dispatches.splice(0, dispatches.length, ...kept);
      this.#judge(policy, kept);
      return;
    }
    const startMs = windowStartMs(period as CalendarPeriod, slotMs);
    this.#judge(
      policy,
      dispatches.filter((each) => windowStartMs(period as CalendarPeriod, each.slotMs) === startMs),
    );
  }

  #judge(policy: AppliedLimit, counted: readonly Dispatch[]): void {
    const sum = counted.reduce((total, { amount }) => total + amount, 0);
    if (sum > policy.limit)
      this.violations.push(`${policy.id}: ${sum} of ${policy.limit} ${policy.metric}/${policy.period}`);
  }
}

function keyOf(organizationId: string, policyId: string): string {
  return `${organizationId}/${policyId}`;
}
