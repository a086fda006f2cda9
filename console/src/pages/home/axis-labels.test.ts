import assert from 'node:assert/strict';
import { test } from 'node:test';
import { axisLabels } from './axis-labels.ts';

const names = (now: number, reached: number | null) => axisLabels(now, reached).map(({ name }) => name);

test('the axis names the window, the present and the moment when the limit is reached', () => {
  assert.deepEqual(names(0.4, null), ['start', 'now', 'end']);
  assert.deepEqual(names(0.4, 0.7), ['start', 'now', 'reached', 'end']);
});

test('labels that would overlap are left out, and never the moment when the limit is reached', () => {
  assert.deepEqual(names(0.5, 0.55), ['start', 'reached', 'end']);
  assert.deepEqual(names(0.6, 0.95), ['start', 'now', 'reached']);
  assert.deepEqual(names(0.02, 0.5), ['now', 'reached', 'end']);
});
