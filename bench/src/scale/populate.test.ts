import assert from 'node:assert/strict';
import { it } from 'node:test';
import { interleaved } from './populate.ts';

it('callers of the large organization and of the others take turns, and none is left out', () => {
  assert.deepEqual(interleaved([1, 2, 3], [10, 20]), [1, 10, 2, 20, 3]);
  assert.deepEqual(interleaved([1], []), [1]);
});
