import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Endpoint, Lane, Live, LiveLane, Membership } from '@relay/contract';
import { boardOf, shownLanes } from './board-rows.ts';

const AT = '2026-01-01T00:00:00.000Z';
const lane = (id: string, enabled = true) => ({ id, name: id, slug: `${id}-slug`, enabled }) as Lane;
const endpoint = (id: string, max: number | null = null) =>
  ({ id, name: `the ${id}`, max_concurrency: max }) as Endpoint;
const member = (laneId: string, endpointId: string, rank: number, enabled = true) =>
  ({
    id: `${laneId}${endpointId}`,
    lane_id: laneId,
    endpoint_id: endpointId,
    manual_rank: rank,
    enabled,
  }) as Membership;
const live = (over: Partial<Live> = {}): Live => ({
  at: AT,
  counted: 'organization',
  lanes: [],
  endpoints: [],
  ...over,
});
const flow = (id: string | null, endpointId: string, waiting: number, inFlight: number) => ({
  lane_id: id,
  waiting,
  waiting_by_priority: { interactive: 0, standard: waiting, batch: 0 },
  longest_wait_ms: waiting * 100,
  next_slot_ms: null,
  limited_by: [],
  in_flight: inFlight,
  fallbacks: 0,
  rejections: 0,
  endpoints: [{ endpoint_id: endpointId, waiting, in_flight: inFlight }],
});
const state = (id: string, inFlight: number, over: Partial<Live['endpoints'][number]> = {}) => ({
  endpoint_id: id,
  waiting: 0,
  in_flight: inFlight,
  max_concurrency: null,
  health: 'healthy' as const,
  health_detail: { reason: null, since: null, requests: 0, error_share: null, last_error: null },
  cooldown_until: null,
  ...over,
});

describe('the lanes of the live board', () => {
  const known = {
    lanes: [lane('search'), lane('chat'), lane('off', false)],
    memberships: [
      member('chat', 'b', 2),
      member('chat', 'a', 1),
      member('chat', 'c', 3, false),
      member('search', 'a', 1),
    ],
    endpoints: [endpoint('a', 4), endpoint('b'), endpoint('c')],
  };

  it('are sorted by name, with their endpoints by rank and their counts', () => {
    const board = boardOf(
      live({ lanes: [flow('chat', 'a', 2, 1)], endpoints: [state('a', 3)] }),
      known,
      'none',
    );
    assert.deepEqual(
      board.map(({ name, waiting, longestWaitMs, inFlight, isActive }) => [
        name,
        waiting,
        longestWaitMs,
        inFlight,
        isActive,
      ]),
      [
        ['chat', 2, 200, 1, true],
        ['search', 0, 0, 0, false],
      ],
    );
    const [a, b] = board[0]?.endpoints ?? [];
    assert.deepEqual(
      [a?.name, a?.rank, a?.waiting, a?.inFlight, a?.inFlightOfAll, a?.inFlightMax],
      ['the a', 1, 2, 1, 3, 4],
    );
    assert.deepEqual([b?.name, b?.rank, b?.inFlightOfAll, b?.inFlightMax], ['the b', 2, 0, null]);
    // Requests of other lanes count for the endpoint, not for this lane.
    const [shared] = board[1]?.endpoints ?? [];
    assert.deepEqual([shared?.inFlight, shared?.inFlightOfAll], [0, 3]);
  });

  it('have their queue by priority with the next to go last, its limits, its next slot, and what fell back or was rejected', () => {
    const waiting_by_priority = { interactive: 1, standard: 0, batch: 4 };
    const busy = {
      ...flow('chat', 'a', 5, 0),
      waiting_by_priority,
      next_slot_ms: 800,
      fallbacks: 3,
      rejections: 2,
    };
    const limit = { policy_id: 'p', waiting: 5 } as LiveLane['limited_by'][number];
    const [chat, search] = boardOf(live({ lanes: [{ ...busy, limited_by: [limit] }] }), known, 'none');
    assert.deepEqual(chat?.queue, [
      { priority: 'batch', count: 4 },
      { priority: 'interactive', count: 1 },
    ]);
    assert.deepEqual([chat.nextSlotMs, chat.fallbacks, chat.rejections], [800, 3, 2]);
    assert.deepEqual([chat.limits, search?.limits, search?.rejections], [[limit], [], 0]);
    assert.deepEqual([search?.queue, search?.nextSlotMs, search?.fallbacks], [[], null, 0]);
  });

  it("a lane is active during the cooldown of an endpoint, by the server's clock", () => {
    const until = '2026-01-01T00:00:12.000Z';
    const cooling = state('a', 0, { health: 'rate_limited', cooldown_until: until });
    const board = boardOf(live({ endpoints: [cooling] }), known, 'none');
    assert.deepEqual(
      board.map(({ isActive, endpoints }) => [isActive, endpoints[0]?.coolingMs]),
      [
        [true, 12_000],
        [true, 12_000],
      ],
    );
  });

  it('a lane with an endpoint that is down is active, and says why and for how long', () => {
    const health_detail = {
      ...state('a', 0).health_detail,
      reason: 'connection refused',
      since: '2025-12-31T23:59:20.000Z',
    };
    const down = state('a', 0, { health: 'down', health_detail });
    const [row] = boardOf(live({ endpoints: [down] }), known, 'none');
    assert.equal(row?.isActive, true);
    const [a, b] = row?.endpoints ?? [];
    assert.deepEqual([a?.health, a?.reason, a?.forMs], ['down', 'connection refused', 40_000]);
    assert.deepEqual([b?.health, b?.reason, b?.forMs], ['unknown', null, null]);
  });

  it('an idle endpoint is healthy if it was, and nothing else is taken from the list of endpoints', () => {
    const health = (word: 'healthy' | 'down') => ({ ...endpoint('a'), health: word }) as Endpoint;
    const seen = (word: 'healthy' | 'down') =>
      boardOf(live(), { ...known, endpoints: [health(word)] }, 'none')[0]?.endpoints[0]?.health;
    assert.equal(seen('healthy'), 'healthy');
    assert.equal(seen('down'), 'unknown');
  });

  it('requests without a lane are last, with endpoints in no lane that are not healthy', () => {
    const cooling = state('c', 0, { health: 'rate_limited', cooldown_until: AT });
    const only = { ...known, memberships: known.memberships.filter((each) => each.endpoint_id !== 'c') };
    const board = boardOf(
      live({ lanes: [flow(null, 'b', 0, 1)], endpoints: [state('b', 1), cooling] }),
      only,
      'none',
    );
    const last = board.at(-1);
    assert.deepEqual([last?.id, last?.name, last?.endpoints.map(({ id }) => id)], [null, 'none', ['b', 'c']]);
  });

  it('deleted or unreadable resources are shown by ID', () => {
    const nothing = { lanes: [], memberships: [], endpoints: [] };
    const [row] = boardOf(
      live({ lanes: [flow('gone', 'x', 0, 1)], endpoints: [state('x', 1)] }),
      nothing,
      'none',
    );
    assert.deepEqual([row?.name, row?.endpoints[0]?.name, row?.endpoints[0]?.rank], ['gone', 'x', null]);
  });

  it('own requests do not show the load of an endpoint', () => {
    const [row] = boardOf(live({ counted: 'own', lanes: [flow('chat', 'a', 0, 1)] }), known, 'none');
    assert.equal(row?.endpoints[0]?.inFlightMax, null);
  });
});

describe('the order of many lanes', () => {
  const names = Array.from({ length: 250 }, (_, index) => `lane ${index}`);
  const known = {
    lanes: names.map((name) => lane(name)),
    memberships: [member('lane 42', 'a', 1)],
    endpoints: [endpoint('a')],
  };
  const board = boardOf(live({ lanes: [flow('lane 99', 'x', 1, 0)] }), known, 'none');
  const shown = (over: Partial<Parameters<typeof shownLanes>[1]> = {}) =>
    shownLanes(board, { query: '', recent: new Set(), withQuiet: false, ...over });

  it('counts a lane with fallbacks in the last minute as trouble', () => {
    const fell = { ...flow('lane 77', 'x', 0, 0), endpoints: [], fallbacks: 1 };
    const rows = boardOf(live({ lanes: [flow('lane 99', 'x', 0, 1), fell] }), known, 'none');
    const { rows: sorted } = shownLanes(rows, { query: '', recent: new Set(), withQuiet: false });
    assert.deepEqual(
      sorted.slice(0, 2).map(({ name }) => name),
      ['lane 77', 'lane 99'],
    );
  });

  it('begins with trouble on a wall screen, where fewer lanes fit', () => {
    const fell = { ...flow('lane 77', 'x', 0, 0), endpoints: [], fallbacks: 1 };
    const rows = boardOf(live({ lanes: [fell] }), known, 'none').slice(70, 78);
    const first = (isWall: boolean) =>
      shownLanes(rows, { query: '', recent: new Set(), withQuiet: false, isWall }).rows[0]?.name;
    assert.deepEqual([first(true), first(false)], ['lane 77', rows[0]?.name]);
    assert.notEqual(rows[0]?.name, 'lane 77');
  });

  it('begins with trouble, then with requests, and idle ones follow', () => {
    const { rows, hidden } = shown({ recent: new Set(['lane 50']) });
    assert.deepEqual(
      rows.slice(0, 3).map(({ name }) => name),
      ['lane 99', 'lane 50', 'lane 0'],
    );
    assert.equal(rows.length + hidden, 250);
    assert.equal(rows.length, 200);
  });

  it('shows all on request, and matches of the search by lane or endpoint', () => {
    assert.deepEqual([shown({ withQuiet: true }).rows.length, shown({ withQuiet: true }).hidden], [250, 0]);
    assert.deepEqual(
      shown({ query: 'the a' }).rows.map(({ name }) => name),
      ['lane 42'],
    );
    assert.equal(shown({ query: 'nothing like it' }).rows.length, 0);
  });
});
