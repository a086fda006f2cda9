import type { Call, Handlers } from '../../http/call.ts';
import { setNextPage } from '../resources/paging.ts';
import { cursorOf, type ListedLimit, listLimits, positionOf } from './listed-limits.ts';
import { nextLimits } from './next-limits.ts';
import { readLimitUsage, type UsageDeps } from './read-usage.ts';

/** The page size without `limit`: an organization may have a limit for each of its keys. */
const PAGE_MAX = 1_000;

export function limitUsageHandlers(deps: UsageDeps): Handlers {
  return {
    async listLimitUsage(call) {
      const { organizationId } = call.caller;
      const limits = (await onePage(deps, call)).map(({ limit }) => limit);
      return readLimitUsage(deps, organizationId, limits);
    },
    getNextLimits: ({ caller, query }) => nextLimits(deps, caller, query.limit),
  };
}

async function onePage(deps: UsageDeps, call: Call<'listLimitUsage'>): Promise<ListedLimit[]> {
  const { caller, query } = call;
  const { organizationId } = caller;
  const list = { route: 'listLimitUsage', organizationId } as const;
  const after = query.cursor === undefined ? null : positionOf(list, query.cursor);
  const limit = query.limit ?? PAGE_MAX;
  const snapshot = deps.snapshots.get(organizationId) ?? (await deps.snapshots.load(organizationId));
  const { policy_kind: kind, user_uuid: member } = query;
  const db = deps.ofOrganization(organizationId);
  const reader = { caller, snapshot, db, kind, userId: member?.toLowerCase() };
  // One more than requested shows whether there is a next page.
  const found = await listLimits(reader, after, limit + 1);
  if (found.length <= limit) return found;
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const filters = {
    ...(kind !== undefined && { policy_kind: kind }),
    ...(member !== undefined && { user_uuid: member }),
  };
  if (last !== undefined)
    setNextPage(call, 'listLimitUsage', { limit, cursor: cursorOf(list, last) }, filters);
  return page;
}
