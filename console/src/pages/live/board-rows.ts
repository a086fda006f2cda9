import type { Endpoint, Lane, Live, LiveLane, Membership } from '@relay/contract';
import { matches } from '../../format/matches.ts';
import { type EndpointLoad, loadsOf } from '../../parts/endpoint-load.ts';
import { isUnwell } from '../../parts/health-order.ts';
import { inRankOrder } from '../../parts/rank-order.ts';

export interface BoardEndpoint extends EndpointLoad {
  readonly id: string;
  readonly name: string;
  /** Its rank; null without a lane, or if it left the lane while requests are in flight. */
  readonly rank: number | null;
  /** Requests of this lane only. */
  readonly waiting: number;
  readonly inFlight: number;
}

export interface BoardLane {
  /** Null for requests without a lane. */
  readonly id: string | null;
  readonly name: string;
  readonly slug: string;
  /** Null for requests without a lane, and without access to it. */
  readonly priority: Lane['priority'] | null;
  readonly maxWaitMs: number | null;
  readonly waiting: number;
  /** The queue in order, the next to go last. */
  readonly queue: readonly { readonly priority: Lane['priority']; readonly count: number }[];
  readonly longestWaitMs: number;
  /** What the requests wait for, most requests first. */
  readonly limits: LiveLane['limited_by'];
  /** In how many milliseconds a waiting request can go; null if none waits or it is unknown. */
  readonly nextSlotMs: number | null;
  readonly inFlight: number;
  /** In the last minute. */
  readonly fallbacks: number;
  /** In the last minute. */
  readonly rejections: number;
  readonly endpoints: readonly BoardEndpoint[];
  /** It has requests, had fallbacks or rejections in the last minute, or has an endpoint that is not healthy. */
  readonly isActive: boolean;
}

/** The configuration; empty without access, which shows IDs instead of names. */
export interface Known {
  readonly lanes: readonly Lane[];
  readonly memberships: readonly Membership[];
  readonly endpoints: readonly Endpoint[];
}

/** Every lane with its endpoints by rank and its requests in flight, sorted by name. */
export function boardOf(live: Live, known: Known, withoutLane: string): readonly BoardLane[] {
  const membersOf = Map.groupBy(
    known.memberships.filter(({ enabled }) => enabled),
    ({ lane_id: laneId }) => laneId,
  );
  const describe = describer(live, known);
  const flows = new Map(live.lanes.map((lane) => [lane.lane_id, lane]));
  const ids = new Set(known.lanes.filter(({ enabled }) => enabled).map(({ id }) => id));
  for (const { lane_id: id } of live.lanes) if (id !== null) ids.add(id);
  const laneOf = new Map(known.lanes.map((lane) => [lane.id, lane]));
  const rows = [...ids].map((id) => {
    const ranked = inRankOrder(membersOf.get(id) ?? []).map(({ endpoint_id: endpointId }) => endpointId);
    return rowOf(id, laneOf.get(id), flows.get(id), ranked, describe);
  });
  const direct = directRow(live, new Set(known.memberships.map((each) => each.endpoint_id)), describe);
  const sorted = rows.toSorted((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
  return direct === null ? sorted : [...sorted, { ...direct, name: withoutLane }];
}

type Describe = (id: string, rank: number | null, flow: LiveLane | undefined) => BoardEndpoint;

function describer(live: Live, known: Known): Describe {
  const loadOf = loadsOf(live, known.endpoints);
  const nameOf = new Map(known.endpoints.map(({ id, name }) => [id, name]));
  return (id, rank, flow) => {
    const own = flow?.endpoints.find((each) => each.endpoint_id === id);
    return {
      id,
      name: nameOf.get(id) ?? id,
      rank,
      waiting: own?.waiting ?? 0,
      inFlight: own?.in_flight ?? 0,
      ...loadOf(id),
    };
  };
}

function rowOf(
  id: string | null,
  lane: Lane | undefined,
  flow: LiveLane | undefined,
  ranked: readonly string[],
  describe: Describe,
): BoardLane {
  const others = (flow?.endpoints ?? [])
    .map(({ endpoint_id: endpointId }) => endpointId)
    .filter((endpointId) => !ranked.includes(endpointId));
  const endpoints = [
    ...ranked.map((endpointId, index) => describe(endpointId, index + 1, flow)),
    ...others.map((endpointId) => describe(endpointId, null, flow)),
  ];
  return {
    id,
    name: lane?.name ?? id ?? '',
    slug: lane?.slug ?? '',
    priority: lane?.priority ?? null,
    maxWaitMs: lane?.default_max_wait_ms ?? null,
    waiting: flow?.waiting ?? 0,
    queue: queueOf(flow),
    longestWaitMs: flow?.longest_wait_ms ?? 0,
    limits: flow?.limited_by ?? [],
    nextSlotMs: flow?.next_slot_ms ?? null,
    inFlight: flow?.in_flight ?? 0,
    fallbacks: flow?.fallbacks ?? 0,
    rejections: flow?.rejections ?? 0,
    endpoints,
    isActive: flow !== undefined || endpoints.some(({ health }) => isUnwell(health)),
  };
}

const LAST_TO_FIRST = ['batch', 'standard', 'interactive'] as const;

function queueOf(flow: LiveLane | undefined): BoardLane['queue'] {
  return LAST_TO_FIRST.map((priority) => ({
    priority,
    count: flow?.waiting_by_priority[priority] ?? 0,
  })).filter(({ count }) => count > 0);
}

/** Requests without a lane and endpoints in no lane that are not healthy; null if there are none. */
function directRow(live: Live, inLanes: ReadonlySet<string>, describe: Describe): BoardLane | null {
  const flow = live.lanes.find(({ lane_id: id }) => id === null);
  const unwell = live.endpoints
    .filter(({ endpoint_id: id, health }) => isUnwell(health) && !inLanes.has(id))
    .map(({ endpoint_id: id }) => id)
    .filter((id) => flow?.endpoints.every((each) => each.endpoint_id !== id) ?? true);
  if (flow === undefined && unwell.length === 0) return null;
  const row = rowOf(null, undefined, flow, [], describe);
  return { ...row, endpoints: [...row.endpoints, ...unwell.map((id) => describe(id, null, flow))] };
}

/** The displayed lanes and the number of hidden idle ones. */
export interface ShownLanes {
  readonly rows: readonly BoardLane[];
  readonly hidden: number;
}

/** Up to this many lanes keep their places; more are sorted by trouble. */
const STEADY_MAX = 8;
/** A wall screen has room for fewer. */
const WALL_STEADY_MAX = 4;
/** Idle lanes are shown up to this number of rows. */
const ROWS_MAX = 200;

/**
 * Every lane. Of many, those that wait, reject, fell back or have an unhealthy endpoint come first, then those with requests, each group by name, so that rows do
 * not jump. `recent` lanes count as busy for a few seconds more.
 */
export function shownLanes(board: readonly BoardLane[], options: ShownOptions): ShownLanes {
  const { query, recent, withQuiet, isWall = false } = options;
  const found = board.filter(({ id, name, slug, endpoints }) =>
    matches(query, name, slug, id ?? '', ...endpoints.map((endpoint) => endpoint.name)),
  );
  if (found.length <= (isWall ? WALL_STEADY_MAX : STEADY_MAX)) return { rows: found, hidden: 0 };
  const groups = Map.groupBy(found, (lane) => groupOf(lane, recent));
  const busy = [...(groups.get('trouble') ?? []), ...(groups.get('busy') ?? [])];
  const quiet = groups.get('quiet') ?? [];
  const shown = withQuiet || query !== '' ? quiet : quiet.slice(0, Math.max(0, ROWS_MAX - busy.length));
  return { rows: [...busy, ...shown], hidden: quiet.length - shown.length };
}

interface ShownOptions {
  readonly query: string;
  readonly recent: ReadonlySet<string>;
  readonly withQuiet: boolean;
  readonly isWall?: boolean;
}

function groupOf(lane: BoardLane, recent: ReadonlySet<string>): 'trouble' | 'busy' | 'quiet' {
  const isUneasy = lane.waiting > 0 || lane.fallbacks > 0 || lane.rejections > 0;
  if (isUneasy || lane.endpoints.some(({ health }) => isUnwell(health))) return 'trouble';
  return lane.isActive || recent.has(lane.id ?? '') ? 'busy' : 'quiet';
}
