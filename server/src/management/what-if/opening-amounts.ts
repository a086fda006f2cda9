import type { Kysely } from 'kysely';
import { windowStartMs } from '../../admission/calendar-window.ts';
import type { Opening } from '../../admission/engine.ts';
import type { AppliedLimit } from '../../domain/limits/limit.ts';
import { isSliding } from '../../domain/limits/period.ts';
import { sumUsage, type UsageWindow } from '../../store/ledger/windows/usage-sums.ts';
import type { Database } from '../../store/postgres/schema.ts';

const HOUR_MS = 3_600_000;
/** In one statement. */
const WINDOWS_MAX = 100;

/**
 * What calendar windows held at that moment. Sums of whole hours come from rollups; only what is left of the last hour is counted
 * from rows.
 */
export async function openingsAt(
  db: Kysely<Database>,
  organizationId: string,
  limits: readonly AppliedLimit[],
  atMs: number,
): Promise<Opening[]> {
  const hourMs = Math.floor(atMs / HOUR_MS) * HOUR_MS;
  const openings = limits.flatMap((policy) => {
    const { period } = policy;
    if (period === 'none' || isSliding(period)) return [];
    return [{ policy, startMs: windowStartMs(period, atMs), amount: 0 }];
  });
  const windows = openings.flatMap((opening) => {
    const { metric, counts } = opening.policy;
    const parts = [
      { startMs: opening.startMs, endMs: hourMs },
      { startMs: hourMs, endMs: atMs },
    ].filter(({ startMs, endMs }) => startMs < endMs);
    return parts.map((part) => ({ opening, window: { metric, counts, ...part } satisfies UsageWindow }));
  });
  for (let first = 0; first < windows.length; first += WINDOWS_MAX) {
    const part = windows.slice(first, first + WINDOWS_MAX);
    const sums = await sumUsage(
      db,
      organizationId,
      part.map(({ window }) => window),
    );
    for (const [index, { opening }] of part.entries()) opening.amount += sums[index] ?? 0;
  }
  return openings;
}
