import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoint, Live } from '@relay/contract';
import { isFull, loadsOf } from './endpoint-load.ts';

const AT = '2026-01-01T00:00:00.000Z';
const idle = (id: string, max: number | null, health: Endpoint['health'] = 'healthy') =>
  ({ id, max_concurrency: max, health }) as Endpoint;
const busy = (id: string, inFlight: number): Live['endpoints'][number] => ({
  endpoint_id: id,
  waiting: 0,
  in_flight: inFlight,
  max_concurrency: 4,
  health: 'healthy',
  health_detail: { reason: null, since: null, requests: 0, error_share: null, last_error: null },
  cooldown_until: null,
});
const live = (...endpoints: Live['endpoints']): Live => ({
  at: AT,
  counted: 'organization',
  lanes: [],
  endpoints,
});

test('an endpoint is at its limit only when all of it is taken', () => {
  const loadOf = loadsOf(live(busy('a', 4), busy('b', 3)), []);
  assert.deepEqual(['a', 'b'].map(loadOf).map(isFull), [true, false]);
});

test('an endpoint that Live leaves out has nothing in flight, its limit, and is healthy or idle', () => {
  const loadOf = loadsOf(live(), [idle('a', 20), idle('b', null, 'down')]);
  const shown = (id: string) => {
    const { inFlightOfAll, inFlightMax, health } = loadOf(id);
    return [inFlightOfAll, inFlightMax, health];
  };
  assert.deepEqual(shown('a'), [0, 20, 'healthy']);
  // It recovered after the endpoints were read.
  assert.deepEqual(shown('b'), [0, null, 'unknown']);
});

test('of own requests only, how much of the limit is taken is unknown', () => {
  const loadOf = loadsOf({ ...live(busy('a', 4)), counted: 'own' }, [idle('a', 4)]);
  assert.equal(loadOf('a').inFlightMax, null);
  assert.equal(isFull(loadOf('a')), false);
});

test('how long a state lasts and a cooldown is left is counted from when Live was read', () => {
  const [since, until] = [Date.parse(AT) - 40_000, Date.parse(AT) + 9_000].map((ms) =>
    new Date(ms).toISOString(),
  );
  const state = busy('a', 0);
  const health_detail = { ...state.health_detail, since: since ?? null };
  const { forMs, coolingMs } = loadsOf(
    live({ ...state, health_detail, cooldown_until: until ?? null }),
    [],
  )('a');
  assert.deepEqual([forMs, coolingMs], [40_000, 9_000]);
});
