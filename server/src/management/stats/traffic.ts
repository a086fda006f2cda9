import { type ApiKeyStats, type LaneStats, TRAFFIC_ROWS_MAX } from '@relay/contract';
import type { Caller } from '../../domain/caller.ts';
import { quantileMs } from '../../domain/histogram.ts';
import type { Handlers } from '../../http/call.ts';
import { namesOf } from '../../store/configuration/names-of.ts';
import { type GroupSums, readGroups, type TrafficSums } from '../../store/ledger/rollups/read-groups.ts';
import { visibleUser } from '../requests/search.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import { wireCosts } from '../resources/wire-cost.ts';
import { completeUntil } from './complete-until.ts';
import { pointsOf, rangeOfRows } from './range.ts';

type TrafficDeps = Pick<ManagementDeps, 'ofOrganization' | 'clock' | 'ledgerCompleteUntilMs'>;
type Asked = Parameters<typeof rangeOfRows>[0];

const NOUNS = { lane: 'lane', api_key: 'API key' } as const;

/** What every lane and every key does, in one read each: the pages that list them need all of it. */
export function trafficHandlers(deps: TrafficDeps): Pick<Handlers, 'getLaneStats' | 'getApiKeyStats'> {
  return {
    async getLaneStats({ caller, query }) {
      const { head, rows, other } = await readTraffic(deps, 'lane', caller, query);
      const lanes = rows.map(
        ({ id, name, figures }): LaneStats => ({ lane_id: id, lane_name: name, ...figures }),
      );
      return { ...head, lanes, other: other && { lanes: other.groups, ...sumsOf(other) } };
    },
    async getApiKeyStats({ caller, query }) {
      const { head, rows, other } = await readTraffic(deps, 'api_key', caller, query);
      const keys = rows.map(
        ({ id, name, figures }): ApiKeyStats => ({ api_key_id: id, api_key_name: name, ...figures }),
      );
      return { ...head, api_keys: keys, other: other && { api_keys: other.groups, ...sumsOf(other) } };
    },
  };
}

async function readTraffic(deps: TrafficDeps, by: keyof typeof NOUNS, caller: Caller, query: Asked) {
  const { organizationId } = caller;
  const range = rangeOfRows(query, NOUNS[by], deps.clock.nowMs());
  const userId = visibleUser(caller);
  const db = deps.ofOrganization(organizationId);
  const { groups, other } = await readGroups(db, by, { organizationId, userId, range }, TRAFFIC_ROWS_MAX);
  const ids = groups.map(({ id }) => id).filter((id) => id !== null);
  const names = await namesOf(db, organizationId, by, ids);
  const figuresOf = (group: GroupSums) => ({
    ...sumsOf(group),
    series: pointsOf(range, group.series),
    wait_ms_p95: quantileMs(group.durations.wait, 0.95),
  });
  return {
    head: {
      bucket: range.bucket,
      from: new Date(range.fromMs).toISOString(),
      to: new Date(range.toMs).toISOString(),
      ...completeUntil(deps),
      counted: userId === undefined ? ('organization' as const) : ('own' as const),
    },
    rows: groups.map((group) => ({
      id: group.id,
      name: (group.id === null ? undefined : names.get(group.id)) ?? null,
      figures: figuresOf(group),
    })),
    other,
  };
}

function sumsOf({
  completed,
  failed,
  cancelled,
  rejected,
  fallbacks,
  metered,
  unpriced,
  priced,
  costPicos,
  fallbackCostPicos,
}: TrafficSums) {
  return {
    requests: completed + failed + cancelled,
    served: completed,
    failed,
    cancelled,
    rejected,
    fallbacks,
    ...wireCosts({ cost: costPicos, fallback_cost: fallbackCostPicos }, { priced, unpriced }),
    metered_requests: metered,
  };
}
