import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Timeseries } from '@relay/contract';
import { failingLanes } from './failing-lanes.ts';

const series = (of: Readonly<Record<string, number>>) =>
  Object.entries(of).map(([key, total]) => ({
    kind: 'group',
    key,
    label: key,
    total,
    points: [],
  })) as unknown as Timeseries['series'];

test('lanes of which most requests fail are named, whatever their causes are', () => {
  const requests = series({ fine: 100, batch: 44, translate: 60, quiet: 2 });
  const errors = series({ fine: 12, batch: 36, translate: 40, quiet: 2 });
  assert.deepEqual(
    failingLanes(requests, errors).map(({ id, failed }) => [id, failed]),
    [
      ['translate', 40],
      ['batch', 36],
    ],
  );
  assert.deepEqual(failingLanes(requests, []), []);
});
