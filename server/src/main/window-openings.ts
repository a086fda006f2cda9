import type { Kysely } from 'kysely';
import { windowStartMs } from '../admission/calendar-window.ts';
import type { Opening } from '../admission/engine.ts';
import { GEOMETRY } from '../admission/memory/window.ts';
import { SHORT_WINDOW_MS } from '../admission/rebuild-windows.ts';
import type { AppliedLimit } from '../domain/limits/limit.ts';
import { isSliding } from '../domain/limits/period.ts';
import type { Clock } from '../kit/clock.ts';
import { readRecentUsage } from '../store/ledger/windows/recent-usage.ts';
import { sumUsage } from '../store/ledger/windows/usage-sums.ts';
import type { Database } from '../store/postgres/schema.ts';

export interface OpeningParts {
  readonly db: Kysely<Database>;
  readonly clock: Clock;
}

/** Reads the used amount of calendar windows that the engine does not know. */
export async function calendarOpenings(
  { db, clock }: OpeningParts,
  organizationId: string,
  policies: readonly AppliedLimit[],
): Promise<Opening[]> {
  const nowMs = clock.nowMs();
  const windows = policies.flatMap((policy) => {
    const { period, metric } = policy;
    if (period === 'none' || isSliding(period)) return [];
    return [{ policy, metric, counts: policy.counts, startMs: windowStartMs(period, nowMs) }];
  });
  const amounts = await sumUsage(db, organizationId, windows);
  return windows.map(({ policy, startMs }, index) => ({ policy, startMs, amount: amounts[index] ?? 0 }));
}

/** Reads windows of any period, as they are now. */
export async function currentOpenings(
  parts: OpeningParts,
  organizationId: string,
  policies: readonly AppliedLimit[],
): Promise<Opening[]> {
  const sinceMs = parts.clock.nowMs() - SHORT_WINDOW_MS;
  return [
    ...(await calendarOpenings(parts, organizationId, policies)),
    ...(await shortOpenings(parts, organizationId, policies, sinceMs)),
  ];
}

/** Reads what requests used of sliding windows since then, bucket by bucket. Each window also gets an empty entry, so that the engine knows it. */
export async function shortOpenings(
  { db }: Pick<OpeningParts, 'db'>,
  organizationId: string,
  policies: readonly AppliedLimit[],
  sinceMs: number,
): Promise<Opening[]> {
  const openings: Opening[] = [];
  for (const policy of policies) {
    const { metric, period } = policy;
    if (period === 'none' || !isSliding(period)) continue;
    const counted = { metric, counts: policy.counts };
    openings.push({ policy, startMs: sinceMs, amount: 0 });
    const { bucketMs } = GEOMETRY[period];
    const sums = new Map<number, number>();
    for (const { atMs, amount } of await readRecentUsage(db, organizationId, counted, sinceMs)) {
      const startMs = Math.floor(atMs / bucketMs) * bucketMs;
      sums.set(startMs, (sums.get(startMs) ?? 0) + amount);
    }
    for (const [startMs, amount] of sums) openings.push({ policy, startMs, amount });
  }
  return openings;
}
