import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharesOf } from './traffic-shares.ts';

const traffic = (endpointId: string | null, requests: number) => ({
  endpointId,
  name: `the ${endpointId}`,
  requests,
});
const shown = (...of: Parameters<typeof sharesOf>) => sharesOf(...of).map(({ name, share }) => [name, share]);

test('endpoints of the lane come by rank, then those that left it, the busiest first', () => {
  const all = [traffic('gone', 1), traffic(null, 2), traffic('b', 3), traffic('a', 4)];
  assert.deepEqual(shown(all, ['a', 'b', 'new']), [
    ['the a', 0.4],
    ['the b', 0.3],
    ['the null', 0.2],
    ['the gone', 0.1],
  ]);
});

test('an endpoint without requests has no share, and without any request there are none', () => {
  assert.deepEqual(shown([traffic('a', 5), traffic('b', 0)], ['b', 'a']), [['the a', 1]]);
  assert.deepEqual(shown([traffic('a', 0)], ['a']), []);
  assert.deepEqual(shown([], ['a']), []);
});
