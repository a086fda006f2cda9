import type { BoundPolicy, FailureAction, FailureCause, Failures } from '@relay/contract';
import { type Remedy, remedyOf } from '../../domain/failures/remedies.ts';
import type { Handlers } from '../../http/call.ts';
import { uuidTimeMs } from '../../kit/uuid-time.ts';
import { type FailedExample, readExamples } from '../../store/ledger/log/read-examples.ts';
import { type FailureGroup, readFailures } from '../../store/ledger/rollups/read-failures.ts';
import { readSeries } from '../../store/ledger/rollups/read-series.ts';
import { boundPolicies } from '../requests/bound-policies.ts';
import { visibleUser } from '../requests/search.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { completeUntil } from './complete-until.ts';
import { type CauseParts, type Parts, partsOf } from './failure-parts.ts';
import { rangeOf } from './range.ts';

type FailureDeps = Pick<ManagementDeps, 'ofOrganization' | 'clock' | 'snapshots' | 'ledgerCompleteUntilMs'>;

const CAUSES_MAX = 100;

/** Why requests failed, and what mends it. */
export function failureHandlers(deps: FailureDeps): Pick<Handlers, 'getFailures'> {
  return {
    async getFailures({ caller, query }): Promise<Failures> {
      const { organizationId } = caller;
      const { bucket = 'hour' } = query;
      const range = rangeOf(bucket, query, deps.clock.nowMs());
      const userId = visibleUser(caller);
      const db = deps.ofOrganization(organizationId);
      const [groups, series] = await Promise.all([
        readFailures(db, { organizationId, userId, range }, CAUSES_MAX),
        readSeries(db, {
          organizationId,
          range,
          conditions: { user_id: userId },
          dimension: null,
          sums: ['requests_failed'],
          histogram: null,
        }),
      ]);
      const ids = groups.map((group) => group.last_request_id);
      const examples = await readExamples(db, organizationId, ids);
      const snapshot = deps.snapshots.get(organizationId) ?? (await deps.snapshots.load(organizationId));
      const [parts, bounds] = await Promise.all([
        partsOf({ db, snapshot }, groups, examples),
        boundPolicies(db, caller, [...examples.values()]),
      ]);
      const requests = series.reduce((sum, row) => sum + Number(row.sums[0] ?? 0n), 0);
      const grouped = groups.reduce((sum, group) => sum + group.requests, 0);
      return {
        bucket,
        from: new Date(range.fromMs).toISOString(),
        to: new Date(range.toMs).toISOString(),
        ...completeUntil(deps),
        // Both are written in one transaction, but not read in one.
        requests: Math.max(requests, grouped),
        causes: groups.map((group) => {
          const { last_request_id: id } = group;
          return toCause(group, examples.get(id), parts, bounds.get(id) ?? null);
        }),
        other_requests: Math.max(0, requests - grouped),
      };
    },
  };
}

function toCause(
  group: FailureGroup,
  example: FailedExample | undefined,
  parts: Parts,
  bound: BoundPolicy | null,
): FailureCause {
  const remedy = remedyOf(group.error_code);
  const found = parts(group, example);
  const action = actionOf(remedy, found);
  return {
    error_code: group.error_code === '' ? null : group.error_code,
    requests: group.requests,
    first_at: timeOf(group.first_request_id),
    last_at: timeOf(group.last_request_id),
    example_request_id: example?.request_id ?? null,
    http_status: example?.status ?? null,
    provider_id: group.provider_id,
    endpoint_id: group.endpoint_id,
    lane_id: group.lane_id,
    guardrail_id: group.guardrail_id,
    limited_by: found.isLimited ? bound : null,
    summary: remedy.says(found.involved),
    action,
    no_action: action === null ? remedy.none : null,
  };
}

/** The first action whose resource still exists. */
function actionOf({ actions }: Remedy, found: CauseParts): FailureAction | null {
  for (const kind of actions) {
    const action = actionOn(kind, found);
    if (action !== null) return action;
  }
  return null;
}

function actionOn(kind: FailureAction['kind'], found: CauseParts): FailureAction | null {
  if (kind === 'check_deployment')
    return { kind, resource_type: null, resource_id: null, resource_name: null };
  if (kind === 'raise_limit' && found.limitedEndpoint !== null)
    return actionOnResource('edit_endpoint', 'endpoint', found.limitedEndpoint);
  const { type, resource } = resourceOf(kind, found);
  return resource === null ? null : actionOnResource(kind, type, resource);
}

type Named = NonNullable<CauseParts['provider']>;

function actionOnResource(
  kind: FailureAction['kind'],
  type: FailureAction['resource_type'],
  { id, name }: Named,
): FailureAction {
  return { kind, resource_type: type, resource_id: id, resource_name: name };
}

function resourceOf(
  kind: Exclude<FailureAction['kind'], 'check_deployment'>,
  found: CauseParts,
): { readonly type: FailureAction['resource_type']; readonly resource: Named | null } {
  switch (kind) {
    case 'raise_limit':
      return { type: 'limit', resource: found.limit };
    case 'set_price':
    case 'edit_endpoint':
      return { type: 'endpoint', resource: found.endpoint };
    case 'replace_credential':
    case 'edit_provider':
    case 'test_provider':
      return { type: 'provider', resource: found.provider };
    case 'add_candidate':
      return { type: 'lane', resource: found.lane };
    case 'create_lane':
      return { type: 'model', resource: found.model };
    case 'edit_guardrail':
      return { type: 'guardrail', resource: found.guardrail };
  }
}

function timeOf(requestId: string): string {
  return new Date(uuidTimeMs(requestId)).toISOString();
}
