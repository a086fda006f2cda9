import type { EndpointStats, EndpointStatsPage, LimitUsage } from '@relay/contract';
import type { Caller } from '../../domain/caller.ts';
import { quantileMs } from '../../domain/histogram.ts';
import type { Endpoint, OrganizationSnapshot } from '../../domain/snapshot.ts';
import type { Handlers } from '../../http/call.ts';
import type { BucketRange } from '../../store/ledger/rollups/bucket.ts';
import { NO_DURATIONS } from '../../store/ledger/rollups/read-durations.ts';
import { type EndpointFailures, readEndpointFailures } from '../../store/ledger/rollups/read-failures.ts';
import { type GroupSums, readGroups } from '../../store/ledger/rollups/read-groups.ts';
import { endpointFields, type HealthDeps, readHealth } from '../endpoint-health.ts';
import { visibleUser } from '../requests/search.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { wireCosts } from '../resources/wire-cost.ts';
import { completeUntil } from './complete-until.ts';
import { pointsOf, rangeOfRows } from './range.ts';
import { endpointOfLimit, type LimitDeps, readTightest } from './tightest-limits.ts';

export type EndpointStatsDeps = HealthDeps &
  LimitDeps &
  Pick<ManagementDeps, 'ofOrganization' | 'ledgerCompleteUntilMs'>;

/** Each endpoint of the configuration is listed, so none is summed with others. */
const ALL = Number.MAX_SAFE_INTEGER;

/** What every endpoint does, in one read: the page that lists them needs all of it. */
export function endpointStatsHandlers(deps: EndpointStatsDeps): Pick<Handlers, 'getEndpointStats'> {
  return {
    async getEndpointStats({ caller, query }): Promise<EndpointStatsPage> {
      const { organizationId } = caller;
      const range = rangeOfRows(query, 'endpoint', deps.clock.nowMs());
      const userId = visibleUser(caller);
      const snapshot = deps.snapshots.get(organizationId) ?? (await deps.snapshots.load(organizationId));
      const read = await readAll(deps, caller, snapshot, range);
      return {
        bucket: range.bucket,
        from: new Date(range.fromMs).toISOString(),
        to: new Date(range.toMs).toISOString(),
        ...completeUntil(deps),
        counted: userId === undefined ? 'organization' : 'own',
        limits: read.limits,
        endpoints: [...snapshot.endpoints.values()].map((endpoint) => toStats(endpoint, range, read)),
      };
    },
  };
}

interface ReadStats {
  readonly sums: ReadonlyMap<string | null, GroupSums>;
  readonly errors: ReadonlyMap<string | null, readonly EndpointFailures[]>;
  readonly rejected: ReadonlyMap<string, number>;
  readonly healthOf: Awaited<ReturnType<typeof readHealth>>;
  readonly limits: EndpointStatsPage['limits'];
  readonly tightest: ReadonlyMap<string, LimitUsage>;
}

async function readAll(
  deps: EndpointStatsDeps,
  caller: Caller,
  snapshot: OrganizationSnapshot,
  range: BucketRange,
): Promise<ReadStats> {
  const { organizationId } = caller;
  const db = deps.ofOrganization(organizationId);
  const question = { organizationId, userId: visibleUser(caller), range };
  const [{ groups }, failures, healthOf, limits] = await Promise.all([
    readGroups(db, 'endpoint', question, ALL),
    readEndpointFailures(db, question),
    readHealth(deps, organizationId, [...snapshot.endpoints.keys()]),
    readTightest(deps, caller, snapshot),
  ]);
  return {
    sums: new Map(groups.map((each) => [each.id, each])),
    errors: Map.groupBy(failures, ({ endpoint_id }) => endpoint_id),
    rejected: rejectedBy(failures, snapshot),
    healthOf,
    limits: limits.state,
    tightest: limits.tightest,
  };
}

function toStats(endpoint: Endpoint, range: BucketRange, read: ReadStats): EndpointStats {
  const { id } = endpoint;
  const sums = read.sums.get(id);
  const { completed = 0, failed = 0, cancelled = 0, metered = 0, unpriced = 0 } = sums ?? {};
  const { costPicos = 0n, fallbackCostPicos = 0n, priced = 0 } = sums ?? {};
  const ttft = sums?.durations.ttft ?? NO_DURATIONS;
  return {
    endpoint_id: id,
    endpoint_name: endpoint.name,
    provider_id: endpoint.providerId,
    ...endpointFields(read.healthOf(id)),
    requests: completed + failed + cancelled,
    served: completed,
    failed,
    cancelled,
    rejected: read.rejected.get(id) ?? 0,
    series: sums === undefined ? [] : pointsOf(range, sums.series),
    ttft_ms_p50: quantileMs(ttft, 0.5),
    ttft_ms_p95: quantileMs(ttft, 0.95),
    duration_ms_p95: quantileMs(sums?.durations.latency ?? NO_DURATIONS, 0.95),
    errors: errorsOf(read.errors.get(id) ?? []),
    ...wireCosts({ cost: costPicos, fallback_cost: fallbackCostPicos }, { priced, unpriced }),
    metered_requests: metered,
    tightest_limit: read.tightest.get(id) ?? null,
  };
}

function errorsOf(failures: readonly EndpointFailures[]): EndpointStats['errors'] {
  const counts = new Map<string, number>();
  for (const { error_code: code, requests } of failures) counts.set(code, (counts.get(code) ?? 0) + requests);
  return [...counts]
    .map(([code, requests]) => ({ error_code: code === '' ? null : code, requests }))
    .toSorted((a, b) => b.requests - a.requests || (a.error_code ?? '').localeCompare(b.error_code ?? ''));
}

/** Rejected requests by the endpoint whose limit rejected them. */
function rejectedBy(
  failures: readonly EndpointFailures[],
  snapshot: OrganizationSnapshot,
): ReadonlyMap<string, number> {
  const endpointOf = endpointOfLimit(snapshot);
  const rejected = new Map<string, number>();
  for (const { endpoint_id: servedBy, limit_id: limitId, requests } of failures) {
    if (limitId === null || servedBy !== null) continue;
    const endpointId = endpointOf(limitId);
    if (endpointId !== undefined) rejected.set(endpointId, (rejected.get(endpointId) ?? 0) + requests);
  }
  return rejected;
}
