import { windowStartMs } from '../../admission/calendar-window.ts';
import type { AppliedLimit } from '../../domain/limits/limit.ts';
import { amountOf, METRICS, type Quantity } from '../../domain/limits/metric.ts';
import { type CalendarPeriod, isSliding } from '../../domain/limits/period.ts';
import { attemptsOfRow } from '../../store/ledger/attempts-of-row.ts';
import type { LedgerRow } from '../../store/ledger/ledger-row.ts';
import { amountOfAttempt } from './ledger-store.fixture.ts';
import type { ProviderEntry } from './provider.fixture.ts';
import { isLossAlone, type JudgeDeps, type Seen, SLOW_LINK, SLOW_MS_MAX } from './seen.fixture.ts';

const PERIOD_MS = { second: 1_000, minute: 60_000 } as const;

interface Used {
  readonly atMs: number;
  readonly endedMs: number;
  readonly amount: number;
}

/**
 * No window of any limit is exceeded, by what the provider itself counted. An attempt counts with what it used there, and never
 * with more than was reserved for it: use beyond an estimate is not held against a limit.
 */
export function judgeWindows(deps: JudgeDeps, seen: Seen): string[] {
  if (!isLossAlone(seen) || deps.store.unnoticedLosses() > 0) return [];
  const { provider } = deps;
  const limits = new Map<string, { limit: AppliedLimit; used: Used[] }>();
  for (const entry of provider.log) {
    const organizationId = seen.arrivals.get(entry.requestId)?.organizationId ?? '';
    for (const { policy, cost } of chargesOf(seen, entry)) {
      const key = `${organizationId} ${policy.id}`;
      const known = limits.get(key) ?? { limit: policy, used: [] };
      limits.set(key, known);
      known.used.push(usedBy(deps, entry, policy, cost));
    }
  }
  return [...limits].flatMap(([key, { limit, used }]) => {
    const most = mostOf(limit, used, latestMs(seen));
    if (most <= limit.limit + lostWith(deps, seen, limit)) return [];
    return [`windows: ${key} ${most} of ${limit.limit} ${limit.metric}/${limit.period}`];
  });
}

/** Clocks that are off set the ledger's use of short windows too early, from which lost ones are rebuilt. */
function lostWith({ world }: JudgeDeps, { lossesMs }: Seen, { period }: AppliedLimit): number {
  return lossesMs.length > 0 && world.skewMs > 0 && isSliding(period) ? Number.POSITIVE_INFINITY : 0;
}

function chargesOf({ charges }: Seen, entry: ProviderEntry) {
  return charges.get(entry.requestId)?.get(endpointOf(entry)) ?? [];
}

function endpointOf({ origin }: ProviderEntry): string {
  return new URL(origin).hostname.split('.')[0] ?? '';
}

function usedBy(
  { store, ledger }: JudgeDeps,
  entry: ProviderEntry,
  policy: AppliedLimit,
  cost: number,
): Used {
  const { requestId, atMs, status } = entry;
  // A lease that expired gives its units back, although a gateway that is cut off may still use them.
  const expiredMs = store.expired.get(requestId) ?? Number.POSITIVE_INFINITY;
  const endedMs = Math.min(entry.endedMs ?? Number.POSITIVE_INFINITY, expiredMs);
  if (METRICS[policy.metric].held) return { atMs, endedMs, amount: 1 };
  const tokens = entry.inputTokens + entry.outputTokens;
  const spendMicros = entry.inputTokens + 3 * entry.outputTokens;
  const own = amountOf(
    policy.metric,
    status === 200 || entry.isReported ? { tokens, spendMicros } : { tokens: 0, spendMicros: 0 },
  );
  const row = ledger.rows.get(requestId);
  const { quantity } = METRICS[policy.metric];
  // What was not reported is metered by what reached the gateway.
  const known = entry.isReported || row === undefined ? own : Math.min(own, meteredAt(row, entry, quantity));
  return { atMs, endedMs, amount: Math.min(known, cost) };
}

function meteredAt(row: LedgerRow, entry: ProviderEntry, quantity: Quantity): number {
  return attemptsOfRow(row)
    .filter(({ endpoint_id }) => endpoint_id === endpointOf(entry))
    .reduce((sum, sent) => sum + amountOfAttempt(sent, quantity), 0);
}

/**
 * How much later than its release a request may be sent. A gateway gives a late release back three times, and then sends the request: over a link
 * that stays slow, each is late.
 */
function latestMs({ faults }: Seen): number {
  return faults.some(({ name }) => name === SLOW_LINK) ? SLOW_MS_MAX : 0;
}

/** The most that any window of the limit held. */
function mostOf({ metric, period }: AppliedLimit, used: readonly Used[], lateMs: number): number {
  const sorted = used.toSorted((one, other) => one.atMs - other.atMs);
  let most = 0;
  for (const [index, { atMs }] of sorted.entries()) {
    let sum = 0;
    for (const other of sorted.slice(0, index + 1)) {
      const isCounted = METRICS[metric].held
        ? other.endedMs > atMs
        : isSliding(period)
          ? other.atMs > atMs - PERIOD_MS[period] + lateMs
          : windowStartMs(period as CalendarPeriod, other.atMs) ===
            windowStartMs(period as CalendarPeriod, atMs);
      if (isCounted) sum += other.amount;
    }
    most = Math.max(most, sum);
  }
  return most;
}
