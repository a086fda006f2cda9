import type { TimeseriesQuery } from '@relay/contract';
import type { Caller } from '../../domain/caller.ts';
import { binsOf } from '../../domain/histogram.ts';
import type { Handlers } from '../../http/call.ts';
import { namesOf } from '../../store/configuration/names-of.ts';
import { BUCKET_MS, type Bucket, type BucketRange } from '../../store/ledger/rollups/bucket.ts';
import {
  type Conditions,
  countRequests,
  type Measured,
  readSeries as readRollups,
  type SeriesRow,
} from '../../store/ledger/rollups/read-series.ts';
import { visibleUser } from '../requests/search.ts';
import { invalidField, isId } from '../resources/refusals.ts';
import { timeOf } from '../resources/time-param.ts';
import { completeUntil } from './complete-until.ts';
import { countConfigured } from './configured-counts.ts';
import { type EndpointStatsDeps, endpointStatsHandlers } from './endpoint-stats.ts';
import { failureHandlers } from './failures.ts';
import { meteredHandlers } from './metered.ts';
import { METRICS, sumMeasured } from './metrics.ts';
import { rangeOf } from './range.ts';
import {
  groupedSeries,
  groupsIn,
  isOutcome,
  outcomeSeries,
  type Series,
  SUMS_BY_OUTCOME,
  seriesOf,
} from './series.ts';
import { showbackHandlers } from './showback.ts';
import { spendHandlers } from './spend.ts';
import { trafficHandlers } from './traffic.ts';

type StatsDeps = EndpointStatsDeps;

const WAITS_SHOWN_MS = 7 * BUCKET_MS.day;
/** Longer ranges read day rollups, which are exact enough and fewer. */
const WAIT_HOURS_MAX_MS = 14 * BUCKET_MS.day;

export function statsHandlers(deps: StatsDeps): Handlers {
  return {
    ...showbackHandlers(deps),
    ...spendHandlers(deps),
    async getStatsSummary({ caller }) {
      const { organizationId } = caller;
      const db = deps.ofOrganization(organizationId);
      const configured = await countConfigured(db, organizationId);
      const { completed, failed, cancelled } = await countRequests(db, organizationId, visibleUser(caller));
      return {
        ...configured,
        ...completeUntil(deps),
        requests: completed + failed + cancelled,
        request_states: { completed, failed, cancelled },
      };
    },
    async getTimeseries({ caller, query }) {
      const { metric, group_by = 'none', bucket = 'hour' } = query;
      if (isOutcome(group_by) && metric !== 'requests')
        throw invalidField('group_by', `group_by can be "${group_by}" only when metric is "requests".`);
      const range = rangeOf(bucket, query, deps.clock.nowMs());
      const series = await readSeries(deps, caller, query, range);
      return { metric, group_by, bucket, ...shown(range), ...completeUntil(deps), series };
    },
    ...meteredHandlers(deps),
    ...endpointStatsHandlers(deps),
    ...trafficHandlers(deps),
    ...failureHandlers(deps),
    async getWaitDistribution({ caller, query }) {
      const { organizationId } = caller;
      const range = waitRangeOf(query, deps.clock.nowMs());
      const conditions = conditionsFor(caller, query);
      const sums = ['requests_undispatched'] as const;
      const question = { organizationId, range, dimension: null, sums, histogram: 'wait' } as const;
      const db = deps.ofOrganization(organizationId);
      const rows: readonly Measured[] =
        conditions === null ? [] : await readRollups(db, { ...question, conditions });
      const { sums: counted, histogram } = sumMeasured(rows);
      const bins = binsOf(histogram);
      return {
        ...shown(range),
        requests: bins.reduce((sum, { count }) => sum + count, 0),
        undispatched: Number(counted[0] ?? 0n),
        bins: bins.map(({ fromMs, upToMs, count }) => ({
          from_ms: fromMs,
          up_to_ms: upToMs,
          requests: count,
        })),
      };
    },
  };
}

async function readSeries(
  deps: StatsDeps,
  caller: Caller,
  query: TimeseriesQuery,
  range: BucketRange,
): Promise<Series[]> {
  const { organizationId } = caller;
  const { metric, group_by = 'none' } = query;
  const db = deps.ofOrganization(organizationId);
  const outcome = isOutcome(group_by) ? group_by : null;
  const dimension = group_by === 'none' || isOutcome(group_by) ? null : group_by;
  const conditions = conditionsFor(caller, query);
  const { histogram, beside } = METRICS[metric];
  const sums = outcome === null ? METRICS[metric].sums : SUMS_BY_OUTCOME[outcome];
  const rows: readonly SeriesRow[] =
    conditions === null
      ? []
      : await readRollups(db, { organizationId, range, conditions, dimension, sums, beside, histogram });
  if (outcome !== null) return outcomeSeries(outcome, range, rows);
  if (dimension === null) {
    const all = { kind: 'all', key: null, label: 'all' } as const;
    return [seriesOf(metric, range, all, groupsIn(rows).get('') ?? new Map())];
  }
  const ids = [...new Set(rows.map(({ name }) => name))].filter((name) => name !== null && isId(name));
  const names = await namesOf(db, organizationId, dimension, ids as string[]);
  return groupedSeries(metric, range, rows, names);
}

type Filters = Pick<TimeseriesQuery, 'lane_id' | 'endpoint_id' | 'provider_id' | 'api_key_id' | 'user_uuid'>;

/** Null when nothing can match: an invalid ID, or traffic that the caller may not see. */
function conditionsFor(caller: Caller, filters: Filters): Conditions | null {
  const own = visibleUser(caller);
  const userId = filters.user_uuid?.toLowerCase() ?? own;
  const conditions = {
    lane_id: filters.lane_id,
    endpoint_id: filters.endpoint_id,
    provider_id: filters.provider_id,
    key_id: filters.api_key_id,
    user_id: userId,
  };
  const given = Object.values(conditions).filter((id) => id !== undefined);
  return (own === undefined || userId === own) && given.every(isId) ? conditions : null;
}

function waitRangeOf(asked: { from?: string; to?: string }, nowMs: number): BucketRange {
  const toMs = timeOf('to', asked.to) ?? nowMs;
  const from = asked.from ?? new Date(Math.max(0, toMs - WAITS_SHOWN_MS)).toISOString();
  const fromMs = timeOf('from', from) ?? 0;
  const recent = nowMs - fromMs <= WAIT_HOURS_MAX_MS;
  const bucket: Bucket = recent ? 'hour' : 'day';
  return rangeOf(bucket, { ...asked, from }, nowMs);
}

function shown({ fromMs, toMs }: BucketRange): { from: string; to: string } {
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}
