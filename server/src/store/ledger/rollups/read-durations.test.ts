import assert from 'node:assert/strict';
import { it } from 'node:test';
import { histogramIn } from './read-durations.ts';

it('bins of all rollups are added, corrections below zero too', () => {
  const { counts, coarse } = histogramIn({ bins: '5,1000,5,12', counts: '2,1,-1,10', coarse: '1,0,3;0,-1' });
  assert.deepEqual(
    [...counts],
    [
      [5, 1],
      [1_000, 1],
      [12, 10],
    ],
  );
  assert.deepEqual(coarse, [1, -1, 3]);
});

it('without rollups there is nothing', () => {
  assert.deepEqual(histogramIn({ bins: null, counts: null, coarse: null }), {
    counts: new Map(),
    coarse: [],
  });
});
