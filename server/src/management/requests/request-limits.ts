import type { RequestLimits } from '@relay/contract';
import type { Kysely } from 'kysely';
import type { Caller } from '../../domain/caller.ts';
import type { Limit } from '../../domain/limits/limit.ts';
import { limitsCounting } from '../../domain/limits/limits.ts';
import { type Candidate, routingTableOf } from '../../domain/routing/routing.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { DetailRow } from '../../store/ledger/log/read-log.ts';
import type { Database } from '../../store/postgres/schema.ts';
import { toBudgetPolicy } from '../limits/budget-rows.ts';
import { listKeyBudgets } from '../limits/key-budgets.ts';
import { namedLimits } from '../limits/named-limits.ts';
import { readLimitUsage, type UsageDeps } from '../limits/read-usage.ts';
import { seesOrganization, visibleOwner } from '../limits/visibility.ts';
import { endpointIdsOf } from './wire.ts';

/** The limits that count requests like this one and that the caller may see, as they are now. */
export async function readRequestLimits(
  deps: UsageDeps,
  caller: Caller,
  row: DetailRow,
): Promise<RequestLimits> {
  const { organizationId } = caller;
  const db = deps.ofOrganization(organizationId);
  const snapshot = deps.snapshots.get(organizationId) ?? (await deps.snapshots.load(organizationId));
  const limits = isVisible(caller, row) ? await limitsOf(db, snapshot, row) : [];
  const usages = await readLimitUsage(deps, organizationId, limits);
  return {
    at: new Date(deps.clock.nowMs()).toISOString(),
    counted: seesOrganization(caller) ? 'organization' : 'own',
    limits: await namedLimits(db, organizationId, usages),
  };
}

async function limitsOf(
  db: Kysely<Database>,
  snapshot: OrganizationSnapshot,
  row: DetailRow,
): Promise<readonly Limit[]> {
  const { organizationId } = snapshot;
  const { key_id: keyId, user_id: userId, team_id: teamId, parent_team_id: parentId } = row;
  const scope = { organizationId, ownerId: undefined, enabledOnly: true };
  const budgets = keyId === null ? [] : await listKeyBudgets(db, { ...scope, keyId }, {});
  const keyPolicies = budgets.map((budget) => toBudgetPolicy('api_key', budget.api_key_id, budget));
  const caller = { userId: userId ?? '', keyPolicies, keyTeamId: teamId };
  const limits = limitsCounting(snapshot, caller, row.lane_id, candidatesOf(snapshot, row));
  // The member may be in another team by now, whose limits never counted this request.
  return limits.filter(
    ({ applied: { counts } }) =>
      counts.teamId === undefined || counts.teamId === teamId || counts.teamId === parentId,
  );
}

/** Where the request was sent, and what it waited for; all that were considered if it was sent nowhere. */
function candidatesOf(snapshot: OrganizationSnapshot, row: DetailRow): readonly Candidate[] {
  const { candidates } = routingTableOf(snapshot);
  const found = (ids: readonly string[]) => [...new Set(ids)].flatMap((id) => candidates.get(id) ?? []);
  const considered = found(endpointIdsOf(row));
  if (row.attempts.length === 0) return considered;
  const heldBy = row.bound_policy?.scope_id ?? '';
  const held = considered.filter(({ endpoint, provider, credential }) =>
    [endpoint.id, provider.id, credential?.id].includes(heldBy),
  );
  return [...found(row.attempts.map(({ endpoint_id }) => endpoint_id)), ...held];
}

/** As in the list of limits: without access to all, those that count the caller's own requests. */
function isVisible(caller: Caller, row: DetailRow): boolean {
  const owner = visibleOwner(caller);
  return owner === undefined || row.user_id === owner;
}
