import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Timeseries } from '@relay/contract';
import { keySpends } from './key-spend.ts';

const HOURS = ['08', '09', '10', '11'].map((hour) => `2026-11-17T${hour}:00:00.000Z`);
const range = {
  name: null,
  from: '2026-11-17T10:00:00.000Z',
  to: '2026-11-17T12:00:00.000Z',
  bucket: 'hour',
} as const;

function seriesOf(of: Readonly<Record<string, readonly number[]>>): Timeseries {
  const series = Object.entries(of).map(([key, values]) => {
    const points = values.map((value, index) => ({ at: HOURS.at(index - values.length), value }));
    return { kind: 'group', key, label: key, points, total: values.reduce((sum, value) => sum + value, 0) };
  });
  return { series } as unknown as Timeseries;
}

test('each key has its requests, spend, share and change; those below the first are one row', () => {
  const spend = seriesOf({
    app: [1, 1, 2, 2],
    bot: [50, 50, 3, 3],
    idle: [9, 9, 0, 0],
    a: [0, 0, 1, 0],
    b: [0, 0, 0, 1],
  });
  const requests = seriesOf({ app: [7, 8], bot: [1, 2], idle: [0, 0], a: [3, 0], b: [4, 1] });
  const rows = keySpends(spend, requests, range, 2);
  assert.deepEqual(
    rows.map(({ series, count, costMicros, requests: of }) => [series?.key, count, costMicros, of]),
    [
      ['bot', 1, 6, [1, 2]],
      ['app', 1, 4, [7, 8]],
      [undefined, 2, 2, [7, 1]],
    ],
  );
  assert.deepEqual(
    rows.map(({ share, change }) => [share.toFixed(2), change]),
    [
      ['0.50', -0.94],
      ['0.33', 1],
      ['0.17', null],
    ],
  );
});

test('one row below the first is shown itself', () => {
  const spend = seriesOf({ app: [0, 0, 2, 2], bot: [0, 0, 3, 3], a: [0, 0, 1, 0] });
  assert.deepEqual(
    keySpends(spend, seriesOf({}), range, 2).map(({ series }) => series?.key),
    ['bot', 'app', 'a'],
  );
});
