import type { BoundPolicy, RequestLogEntry, TimeseriesQuery } from '@relay/contract';
import { queryOptions } from '@tanstack/react-query';
import { type Api, take } from './client.ts';
import { collectPages } from './collect-pages.ts';
import { cacheKeys } from './queries.ts';

export function limitPoliciesQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.limitPolicies,
    queryFn: ({ signal }) =>
      collectPages((query) => api.GET('/api/relay/limit-policies', { params: { query }, signal })),
  });
}

export function userBudgetsQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.userBudgets,
    queryFn: async ({ signal }) =>
      (await take(api.GET('/api/relay/pro/user-limit-policies', { signal }))).policies,
  });
}

/** More than Home shows: many may be reached already. */
const NEXT_READ = 20;

/** The limits that run out next, and else the tightest. */
export function nextLimitsQuery(api: Api) {
  return queryOptions({
    queryKey: cacheKeys.nextLimits,
    queryFn: ({ signal }) =>
      take(api.GET('/api/relay/limits/next', { params: { query: { limit: NEXT_READ } }, signal })),
    refetchInterval: 60_000,
  });
}

const REQUEST_LIMITS_REFRESH_MS = 10_000;

/** The limits that apply to a request, as they are now. */
export function requestLimitsQuery(api: Api, requestId: string) {
  return queryOptions({
    queryKey: [...cacheKeys.requestLimits, requestId],
    queryFn: ({ signal }) => {
      const params = { path: { request_id: requestId } };
      return take(api.GET('/api/relay/requests/{request_id}/limits', { params, signal }));
    },
    refetchInterval: REQUEST_LIMITS_REFRESH_MS,
  });
}

export type HistoryQuestion = Pick<TimeseriesQuery, 'metric' | 'bucket' | 'from' | 'to'> &
  Pick<TimeseriesQuery, 'lane_id' | 'endpoint_id' | 'provider_id' | 'api_key_id' | 'user_uuid'>;

const HISTORY_REFRESH_MS = 10_000;

/** The usage of each bucket in a time span. */
export function limitHistoryQuery(api: Api, question: HistoryQuestion) {
  return queryOptions({
    queryKey: [...cacheKeys.limitHistory, question],
    queryFn: async ({ signal }) => {
      const { series } = await take(
        api.GET('/api/relay/stats/timeseries', { params: { query: question }, signal }),
      );
      return series[0]?.points ?? [];
    },
    refetchInterval: HISTORY_REFRESH_MS,
  });
}

/** A request that a limit rejected, with that limit. */
export interface Refusal {
  readonly request: RequestLogEntry;
  readonly policy: BoundPolicy | null;
}

/** Narrows the requests; the request log has no filter for the limit itself. */
export interface RefusalQuestion {
  readonly lane_id?: string;
  readonly api_key_id?: string;
  readonly user_uuid?: string;
}

const REFUSAL_CODES = [
  'budget_exhausted',
  'rate_limit_wait_budget_exceeded',
  'request_exceeds_limit',
] as const;
const REFUSALS_MAX = 12;
const REFUSALS_REFRESH_MS = 10_000;

/** The latest rejections, newest first. Only the detail of a request names the limit, so each detail is read. */
export function refusalsQuery(api: Api, question: RefusalQuestion) {
  return queryOptions({
    queryKey: [...cacheKeys.refusals, question],
    queryFn: async ({ signal }): Promise<readonly Refusal[]> => {
      const pages = await Promise.all(
        REFUSAL_CODES.map((code) => {
          const query = { ...question, error_code: code, limit: REFUSALS_MAX };
          return take(api.GET('/api/relay/requests', { params: { query }, signal }));
        }),
      );
      const latest = pages
        .flatMap(({ data }) => data)
        .sort((a, b) => b.arrived_at.localeCompare(a.arrived_at))
        .slice(0, REFUSALS_MAX);
      return Promise.all(
        latest.map(async (request) => {
          const params = { path: { request_id: request.request_id } };
          const detail = await take(api.GET('/api/relay/requests/{request_id}', { params, signal }));
          return { request, policy: detail.bound_policy };
        }),
      );
    },
    staleTime: 0,
    refetchInterval: REFUSALS_REFRESH_MS,
  });
}

/** The newest entry of the audit log about a limit; null if there is none. */
export function lastChangeQuery(api: Api, limitId: string) {
  return queryOptions({
    queryKey: [...cacheKeys.auditLog, 'last', limitId],
    queryFn: async ({ signal }) => {
      const query = { target_id: limitId, limit: 1 };
      const { data } = await take(api.GET('/api/relay/audit-log', { params: { query }, signal }));
      return data[0] ?? null;
    },
  });
}
