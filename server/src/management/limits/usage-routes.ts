import type { PolicyUsage } from '../../admission/engine.ts';
import type { Limit } from '../../domain/limits/limit.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { Call, Handlers } from '../../http/call.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { setNextPage, unknownCursor } from '../resources/paging.ts';
import { cursorOf, type ListedLimit, listLimits, positionOf } from './listed-limits.ts';
import { toLimitUsage } from './usage-wire.ts';

type UsageDeps = Pick<ManagementDeps, 'ofOrganization' | 'snapshots' | 'clock' | 'limitUsage'>;

/** The page size without `limit`: an organization may have a limit for each of its keys. */
const PAGE_MAX = 1_000;
/** One read blocks the limits engine, so long lists are read in parts. */
const LIMITS_PER_READ = 100;

export function limitUsageHandlers(deps: UsageDeps): Handlers {
  return {
    async listLimitUsage(call) {
      const { organizationId } = call.caller;
      const limits = (await onePage(deps, call)).map(({ limit }) => limit);
      const usages = await readUsage(deps, organizationId, limits);
      const nowMs = deps.clock.nowMs();
      return limits.map((limit) => {
        const usage = usages.get(limit.applied.id);
        if (usage !== undefined) return toLimitUsage(limit, usage, nowMs);
        throw new RelayError('internal_error', { internal: `no usage was answered for ${limit.applied.id}` });
      });
    },
  };
}

async function onePage(deps: UsageDeps, call: Call<'listLimitUsage'>): Promise<ListedLimit[]> {
  const { caller, query } = call;
  const { organizationId } = caller;
  const after = query.cursor === undefined ? null : positionOf(query.cursor);
  if (after === null && query.cursor !== undefined) throw unknownCursor();
  const limit = query.limit ?? PAGE_MAX;
  const snapshot = deps.snapshots.get(organizationId) ?? (await deps.snapshots.load(organizationId));
  const reader = { caller, snapshot, db: deps.ofOrganization(organizationId) };
  // One more than requested shows whether there is a next page.
  const found = await listLimits(reader, after, limit + 1);
  if (found.length <= limit) return found;
  const page = found.slice(0, limit);
  const last = page.at(-1);
  if (last !== undefined) setNextPage(call, 'listLimitUsage', limit, cursorOf(last));
  return page;
}

async function readUsage(
  deps: UsageDeps,
  organizationId: string,
  limits: readonly Limit[],
): Promise<Map<string, PolicyUsage>> {
  const usages = new Map<string, PolicyUsage>();
  try {
    for (let from = 0; from < limits.length; from += LIMITS_PER_READ) {
      const asked = limits.slice(from, from + LIMITS_PER_READ).map(({ applied }) => applied);
      for (const usage of await deps.limitUsage(organizationId, asked)) usages.set(usage.policyId, usage);
    }
    return usages;
  } catch (error) {
    if (!(error instanceof RelayError && error.code === 'store_unavailable')) throw error;
    // The database is available, so the error must not blame it.
    throw new RelayError('policy_unavailable', {
      message: 'Limit state is unavailable. Retry shortly.',
      internal: error.detail.internal ?? error.message,
      cause: error,
    });
  }
}
