import { setTimeout as delay } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { AppliedLimit } from '../domain/limits/limit.ts';
import { METRICS } from '../domain/limits/metric.ts';
import { type CalendarPeriod, isCalendar } from '../domain/limits/period.ts';
import type { Clock } from '../kit/clock.ts';
import { sumUsage } from '../store/ledger/windows/usage-sums.ts';
import { readWindowEdge, type WindowEdge } from '../store/ledger/windows/window-edge.ts';
import type { Database } from '../store/postgres/schema.ts';
import type { Redis } from '../store/redis/redis.ts';
import { prefixOf, usageStreamOf } from '../store/redis/shards.ts';

export interface CompareDeps {
  readonly db: Kysely<Database>;
  /** Whether the organization has no request in flight, queued or unwritten. */
  readonly isIdle: (organizationId: string) => Promise<boolean>;
  readonly clock: Clock;
  /** What the limits engine has counted, in the order of the limits. */
  readonly usage: (
    organizationId: string,
    limits: readonly AppliedLimit[],
  ) => Promise<readonly { readonly used: number; readonly mark: number | null }[]>;
  /** What windows have used, and the part of it that requests in flight were charged; null when that cannot be told. */
  readonly inFlight?:
    | ((
        organizationId: string,
        limits: readonly AppliedLimit[],
      ) => Promise<readonly { readonly used: number; readonly inFlight: number }[] | null>)
    | undefined;
  /** Resolves when all usage that the organization's shard holds now is in the ledger; false if that takes too long. */
  readonly untilWritten?: ((organizationId: string) => Promise<boolean>) | undefined;
  /** Start of the calendar window that contains a time. */
  readonly windowStartMs: (period: CalendarPeriod, atMs: number) => number;
}

export interface ComparedWindow {
  readonly limit: AppliedLimit;
  readonly startMs: number;
  /** The engine's count, and the ledger's. */
  readonly used: number;
  readonly ledger: number;
  /** What the engine's count should be: the nearest that the ledger allows for. */
  readonly expected: number;
  /** Of the engine's count; null when the engine does not know the window. */
  readonly mark: number | null;
  /**
   * `equal`: the counts agree within the tolerance. `drifted`: they do not. `unsettled`: requests are in flight and the engine's count is
   * not below the ledger's, so the counts cannot be judged. `missing`: they are in flight, and the engine's count is higher by more than these can
   * explain, so the ledger misses rows.
   */
  readonly verdict: 'equal' | 'drifted' | 'unsettled' | 'missing';
}

/** Near the edge of a window, the clocks of Redis and this process may disagree about the current window. */
const EDGE_MS = 5_000;

/**
 * Compares live windows of one organization with the ledger. Requests are counted live before they are in the ledger, so a live count
 * below the ledger, read after it, is always drift. A live count above it is drift when the organization was idle before and
 * after, or when it is higher by more than what is in flight. `wasUnsettled`: windows that could not be judged before either, which are worth the effort.
 */
export async function compareWindows(
  deps: CompareDeps,
  organizationId: string,
  limits: readonly AppliedLimit[],
  wasUnsettled: (window: Pick<ComparedWindow, 'limit' | 'startMs'>) => boolean = () => false,
): Promise<ComparedWindow[]> {
  const windows = openWindows(deps, limits);
  if (windows.length === 0) return [];
  const asked = windows.map(({ limit }) => limit);
  const wasIdle = await deps.isIdle(organizationId);
  const before = await deps.usage(organizationId, asked);
  const sums = await sumsOf(deps, organizationId, windows);
  const after = await deps.usage(organizationId, asked);
  const idle = wasIdle && (await deps.isIdle(organizationId));
  const edges = new Map<number, WindowEdge | null>();
  const compared: ComparedWindow[] = [];
  for (const [index, { limit, startMs }] of windows.entries()) {
    const [{ used, mark } = { used: 0, mark: null }, ledger] = [after[index], sums[index] ?? 0];
    const isSettled = idle && before[index]?.used === used;
    const found = { limit, startMs, used, ledger, mark };
    const judged = await judge(deps, edges, organizationId, { ...found, isSettled });
    compared.push({ ...found, ...judged });
  }
  const isInDoubt = (window: ComparedWindow) =>
    window.verdict === 'unsettled' && window.mark !== null && wasUnsettled(window);
  const missing = await judgeBusy(deps, edges, organizationId, compared.filter(isInDoubt));
  // A window that changed in the meantime mixes two windows.
  const still = new Set(openWindows(deps, limits).map(({ limit, startMs }) => `${limit.id} ${startMs}`));
  return compared
    .map((window) => missing.get(window) ?? window)
    .filter(({ limit, startMs }) => still.has(`${limit.id} ${startMs}`));
}

/**
 * Judges windows of an organization that is never idle. Every request that a window counts at one moment is in flight then, or on its way to the
 * ledger, or in it. So once the ledger has what was on its way, the window cannot be higher than the ledger's sum and what was in flight;
 * requests that arrive meanwhile only raise that sum.
 */
async function judgeBusy(
  deps: CompareDeps,
  edges: Map<number, WindowEdge | null>,
  organizationId: string,
  windows: readonly ComparedWindow[],
): Promise<Map<ComparedWindow, ComparedWindow>> {
  const found = new Map<ComparedWindow, ComparedWindow>();
  const { inFlight, untilWritten } = deps;
  if (windows.length === 0 || inFlight === undefined || untilWritten === undefined) return found;
  const limits = windows.map(({ limit }) => limit);
  const counted = await inFlight(organizationId, limits);
  if (counted === null || !(await untilWritten(organizationId))) return found;
  const sums = await sumsOf(deps, organizationId, windows);
  for (const [index, window] of windows.entries()) {
    const count = counted[index];
    const [{ limit, startMs }, ledger] = [window, sums[index] ?? 0];
    if (count === undefined) continue;
    const edge = await edgeOf(deps, edges, organizationId, startMs);
    if (edge === null) continue;
    const { used } = count;
    if (used - ledger - count.inFlight <= edge[METRICS[limit.metric].quantity]) continue;
    // Not corrected: under load, a lower count could let more through than the limit allows.
    found.set(window, { ...window, used, ledger, expected: used, verdict: 'missing' });
  }
  return found;
}

function sumsOf(
  { db }: CompareDeps,
  organizationId: string,
  windows: readonly Pick<ComparedWindow, 'limit' | 'startMs'>[],
): Promise<readonly number[]> {
  return sumUsage(
    db,
    organizationId,
    windows.map(({ limit: { metric, counts }, startMs }) => ({ metric, counts, startMs })),
  );
}

/** The clocks of gateways and Redis differ. Reads the tolerance only for windows that differ, once for all windows with the same start. */
async function edgeOf(
  { db }: CompareDeps,
  edges: Map<number, WindowEdge | null>,
  organizationId: string,
  startMs: number,
): Promise<WindowEdge | null> {
  if (!edges.has(startMs)) edges.set(startMs, await readWindowEdge(db, organizationId, startMs));
  return edges.get(startMs) ?? null;
}

/** The current windows of these limits, without those near an edge. */
function openWindows(
  { clock, windowStartMs }: CompareDeps,
  limits: readonly AppliedLimit[],
): { limit: AppliedLimit; startMs: number }[] {
  const nowMs = clock.nowMs();
  return limits.flatMap((limit) => {
    const { period } = limit;
    if (!isCalendar(period)) return [];
    const startMs = windowStartMs(period, nowMs);
    const isEdge = [-EDGE_MS, EDGE_MS].some((ms) => windowStartMs(period, nowMs + ms) !== startMs);
    return isEdge ? [] : [{ limit, startMs }];
  });
}

/** Redis knows this per shard, and an organization belongs to one shard. */
export function createIdleShards(redis: Redis): CompareDeps['isIdle'] {
  return (organizationId) => isIdleShard(redis, prefixOf(organizationId));
}

/** Whether a shard has neither usage that is not in the ledger nor leases. */
export async function isIdleShard(redis: Redis, prefix: string): Promise<boolean> {
  const stream = usageStreamOf(prefix);
  if (Number(await redis.run(['XLEN', stream], stream)) > 0) return false;
  const leases = leasesOf(prefix);
  return Number(await redis.run(['ZCARD', leases], leases)) === 0;
}

const WRITTEN_MS_MAX = 5_000;
const LOOK_EVERY_MS = 50;

/** Waits until the worker has written every entry that the stream has now. It removes what it has written. */
export function createUntilWritten(redis: Redis): NonNullable<CompareDeps['untilWritten']> {
  return async (organizationId) => {
    const stream = usageStreamOf(prefixOf(organizationId));
    const idOf = (reply: unknown) => String(((reply as unknown[])[0] as unknown[] | undefined)?.[0] ?? '');
    const last = idOf(await redis.run(['XREVRANGE', stream, '+', '-', 'COUNT', '1'], stream));
    if (last === '') return true;
    for (let lookedMs = 0; lookedMs < WRITTEN_MS_MAX; lookedMs += LOOK_EVERY_MS) {
      if (idOf(await redis.run(['XRANGE', stream, '-', last, 'COUNT', '1'], stream)) === '') return true;
      await delay(LOOK_EVERY_MS, undefined, { ref: false });
    }
    return false;
  };
}

/** The key under which the engine's scripts keep all leases of a shard, by their expiry. */
function leasesOf(prefix: string): string {
  return `${prefix}expiry`;
}

interface Judged extends Omit<ComparedWindow, 'verdict' | 'expected'> {
  readonly isSettled: boolean;
}

async function judge(
  deps: CompareDeps,
  edges: Map<number, WindowEdge | null>,
  organizationId: string,
  window: Judged,
): Promise<Pick<ComparedWindow, 'verdict' | 'expected'>> {
  const { limit, startMs, used, ledger, mark, isSettled } = window;
  const unsettled = { verdict: 'unsettled', expected: used } as const;
  if (used > ledger && !isSettled) return unsettled;
  // The engine rebuilds an unknown window from the ledger at its first request.
  if (mark === null) return unsettled;
  if (used === ledger) return isSettled ? { verdict: 'equal', expected: used } : unsettled;
  const edge = await edgeOf(deps, edges, organizationId, startMs);
  if (edge === null) return unsettled;
  const allowed = edge[METRICS[limit.metric].quantity];
  if (Math.abs(used - ledger) <= allowed) return { verdict: 'equal', expected: used };
  // Down to what may be right at most, so that no limit lets more through; up to what the ledger holds at least.
  return { verdict: 'drifted', expected: used > ledger ? ledger + allowed : ledger };
}
