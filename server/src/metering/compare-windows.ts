import type { Kysely } from 'kysely';
import type { AppliedLimit } from '../domain/limits/limit.ts';
import { METRICS } from '../domain/limits/metric.ts';
import type { Clock } from '../kit/clock.ts';
import { sumUsage } from '../store/ledger/windows/usage-sums.ts';
import { readWindowEdge, type WindowEdge } from '../store/ledger/windows/window-edge.ts';
import type { Database } from '../store/postgres/schema.ts';
import type { Redis } from '../store/redis/redis.ts';
import { prefixOf, usageStreamOf } from '../store/redis/shards.ts';

export interface CompareDeps {
  readonly db: Kysely<Database>;
  /** Whether nothing of the organization is under way, waits for its turn, or waits to be written. */
  readonly isIdle: (organizationId: string) => Promise<boolean>;
  readonly clock: Clock;
  /** What the limits engine has counted, in the order asked for. */
  readonly usage: (
    organizationId: string,
    limits: readonly AppliedLimit[],
  ) => Promise<readonly { readonly used: number }[]>;
  /** When the window of the calendar began in which a moment lies. */
  readonly windowStartMs: (period: 'hour' | 'day' | 'month', atMs: number) => number;
}

export interface ComparedWindow {
  readonly limit: AppliedLimit;
  readonly startMs: number;
  /** What the engine has counted, and what the ledger holds. */
  readonly used: number;
  readonly ledger: number;
  /**
   * `equal`: they agree, or differ by no more than they may. `drifted`: they do not. `unsettled`: something is on its way, and the
   * engine has not counted less than the ledger holds; more cannot be said.
   */
  readonly verdict: 'equal' | 'drifted' | 'unsettled';
}

/** Around the change of a window, clocks do not agree on which window it is. */
const EDGE_MS = 5_000;

/**
 * Compares live windows of one organization with the ledger. Whatever is in the ledger was counted live before, so that a live
 * count below the ledger, read after it, is a drift at any time. A live count above it is one only when nothing of it was
 * under way or on its way to the ledger, before and after.
 */
export async function compareWindows(
  deps: CompareDeps,
  organizationId: string,
  limits: readonly AppliedLimit[],
): Promise<ComparedWindow[]> {
  const windows = openWindows(deps, limits);
  if (windows.length === 0) return [];
  const asked = windows.map(({ limit }) => limit);
  const wasIdle = await deps.isIdle(organizationId);
  const before = await deps.usage(organizationId, asked);
  const sums = await sumUsage(
    deps.db,
    organizationId,
    windows.map(({ limit: { metric, counts }, startMs }) => ({ metric, counts, startMs })),
  );
  const after = await deps.usage(organizationId, asked);
  const idle = wasIdle && (await deps.isIdle(organizationId));
  const edges = new Map<number, WindowEdge | null>();
  const compared: ComparedWindow[] = [];
  for (const [index, { limit, startMs }] of windows.entries()) {
    const [used, ledger] = [after[index]?.used ?? 0, sums[index] ?? 0];
    const isSettled = idle && before[index]?.used === used;
    const verdict = await judge(deps, edges, organizationId, { limit, startMs, used, ledger, isSettled });
    compared.push({ limit, startMs, used, ledger, verdict });
  }
  // What was read may be of two windows when one began meanwhile.
  const still = new Set(openWindows(deps, limits).map(({ limit, startMs }) => `${limit.id} ${startMs}`));
  return compared.filter(({ limit, startMs }) => still.has(`${limit.id} ${startMs}`));
}

/** The current windows of these limits, but those that begin or end at about this moment. */
function openWindows(
  { clock, windowStartMs }: CompareDeps,
  limits: readonly AppliedLimit[],
): { limit: AppliedLimit; startMs: number }[] {
  const nowMs = clock.nowMs();
  return limits.flatMap((limit) => {
    const { period } = limit;
    if (period !== 'hour' && period !== 'day' && period !== 'month') return [];
    const startMs = windowStartMs(period, nowMs);
    const isEdge = [-EDGE_MS, EDGE_MS].some((ms) => windowStartMs(period, nowMs + ms) !== startMs);
    return isEdge ? [] : [{ limit, startMs }];
  });
}

/** Redis tells it of the whole shard, of which the organization is a part. */
export function createIdleShards(redis: Redis): CompareDeps['isIdle'] {
  return async (organizationId) => {
    const prefix = prefixOf(organizationId);
    const stream = usageStreamOf(prefix);
    if (Number(await redis.run(['XLEN', stream], stream)) > 0) return false;
    const leases = leasesOf(prefix);
    return Number(await redis.run(['ZCARD', leases], leases)) === 0;
  };
}

/** All leases of a shard by their end, as the engine's scripts keep them. */
function leasesOf(prefix: string): string {
  return `${prefix}expiry`;
}

interface Judged extends Omit<ComparedWindow, 'verdict'> {
  readonly isSettled: boolean;
}

async function judge(
  deps: CompareDeps,
  edges: Map<number, WindowEdge | null>,
  organizationId: string,
  { limit, startMs, used, ledger, isSettled }: Judged,
): Promise<ComparedWindow['verdict']> {
  const { quantity } = METRICS[limit.metric];
  if (used > ledger && !isSettled) return 'unsettled';
  if (used === ledger) return isSettled ? 'equal' : 'unsettled';
  // A window that the engine does not know is rebuilt from the ledger by the first request that meets it.
  if (used === 0) return 'unsettled';
  // Only what differs is worth looking for a reason, once for all windows that began together.
  if (!edges.has(startMs)) edges.set(startMs, await readWindowEdge(deps.db, organizationId, startMs));
  const edge = edges.get(startMs) ?? null;
  if (edge === null) return 'unsettled';
  const allowed = used > ledger ? edge.above[quantity] : edge.below[quantity];
  return Math.abs(used - ledger) <= allowed ? 'equal' : 'drifted';
}
