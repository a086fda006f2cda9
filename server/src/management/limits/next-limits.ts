import { type LimitUsage, type NextLimit, type NextLimits, REJECTS_MS } from '@relay/contract';
import type { Kysely } from 'kysely';
import type { Caller } from '../../domain/caller.ts';
import { isCalendar } from '../../domain/limits/period.ts';
import { uuidTimeMs } from '../../kit/uuid-time.ts';
import { bucketStart } from '../../store/ledger/rollups/bucket.ts';
import { readRejections } from '../../store/ledger/rollups/read-failures.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { type ListedLimit, listLimits } from './listed-limits.ts';
import { namedLimits } from './named-limits.ts';
import { readLimitUsage, type UsageDeps } from './read-usage.ts';
import { leftShare } from './usage-wire.ts';
import { seesOrganization, visibleOwner } from './visibility.ts';

const SHOWN = 10;
const PAGE = 1_000;
/** One request reads no more limits than this. */
const LIMITS_READ_MAX = 10_000;

/** The limits that the caller can see which run out first, and then the tightest. The ledger is read only for windows that the engine does not know yet. */
export async function nextLimits(deps: UsageDeps, caller: Caller, shown = SHOWN): Promise<NextLimits> {
  const { organizationId } = caller;
  const { found, complete } = await everyLimit(deps, caller);
  // Requests wait for capacity that is soon free again, and a limit of 0 is closed on purpose.
  const limits = found
    .map(({ limit }) => limit)
    .filter(({ described: { period, limit_value: limit } }) => isCalendar(period) && limit > 0);
  const usages = await readLimitUsage(deps, organizationId, limits);
  const next = usages.toSorted(runsOutBefore).slice(0, shown);
  const db = deps.ofOrganization(organizationId);
  const nowMs = deps.clock.nowMs();
  const [named, rejectedAt] = await Promise.all([
    namedLimits(db, organizationId, next),
    rejectionsOf(db, caller, nowMs),
  ]);
  return {
    at: new Date(nowMs).toISOString(),
    counted: seesOrganization(caller) ? 'organization' : 'own',
    limits: named.map((each) => ({ ...each, last_rejected_at: rejectedAt.get(each.policy_id) ?? null })),
    total: usages.length,
    complete,
  };
}

/** When limits last rejected a request that the caller can see, by limit. */
async function rejectionsOf(
  db: Kysely<Database>,
  caller: Caller,
  nowMs: number,
): Promise<ReadonlyMap<string, NextLimit['last_rejected_at']>> {
  const { organizationId } = caller;
  const question = { organizationId, userId: visibleOwner(caller) };
  const sinceMs = nowMs - REJECTS_MS;
  const rejections = await readRejections(db, {
    ...question,
    range: { bucket: 'minute', fromMs: bucketStart('minute', sinceMs), toMs: nowMs + 1 },
  });
  const times = rejections.map(
    ({ limit_id: id, last_request_id: request }) => [id, uuidTimeMs(request)] as const,
  );
  return new Map(
    times.filter(([, atMs]) => atMs >= sinceMs).map(([id, atMs]) => [id, new Date(atMs).toISOString()]),
  );
}

async function everyLimit(
  deps: UsageDeps,
  caller: Caller,
): Promise<{ readonly found: readonly ListedLimit[]; readonly complete: boolean }> {
  const { organizationId } = caller;
  const snapshot = deps.snapshots.get(organizationId) ?? (await deps.snapshots.load(organizationId));
  const db = deps.ofOrganization(organizationId);
  const reader = { caller, snapshot, db, kind: undefined, userId: undefined };
  const found: ListedLimit[] = [];
  while (found.length < LIMITS_READ_MAX) {
    const page = await listLimits(reader, found.at(-1) ?? null, PAGE);
    found.push(...page);
    if (page.length < PAGE) return { found, complete: true };
  }
  const [more] = await listLimits(reader, found.at(-1) ?? null, 1);
  return { found, complete: more === undefined };
}

/** Equal moments, such as now, by the remaining share. */
function runsOutBefore(a: LimitUsage, b: LimitUsage): number {
  return momentOf(a) - momentOf(b) || leftShare(a) - leftShare(b) || (a.policy_id < b.policy_id ? -1 : 1);
}

/** Later than any moment for those that last. */
function momentOf({ runs_out_at: at }: LimitUsage): number {
  return at === null ? Number.MAX_SAFE_INTEGER : Date.parse(at);
}
