import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Timeseries } from '@relay/contract';
import { csvName, csvOf } from './csv.ts';
import { rankedRows, wholeOf } from './ranked-rows.ts';

const DAYS = ['2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z'];

function answer(over: Partial<Timeseries>, groups: Record<string, readonly (number | null)[]>): Timeseries {
  return {
    metric: 'requests',
    group_by: 'lane',
    bucket: 'day',
    from: DAYS[0] ?? '',
    to: '2026-03-03T00:00:00.000Z',
    series: Object.entries(groups).map(([label, values]) => ({
      kind: 'group',
      key: `id-${label}`,
      label,
      total: values.reduce<number>((sum, value) => sum + (value ?? 0), 0),
      points: values.map((value, index) => ({ at: DAYS[index] ?? '', value })),
    })),
    ...over,
  };
}

describe('the ranking', () => {
  it('sorts by size with shares of the total, without empty groups', () => {
    const rows = rankedRows(answer({}, { Small: [1, 0], None: [0, 0], Great: [1, 2] }), true);
    assert.deepEqual(
      rows.map(({ label, total, share, peak }) => [label, total, share, peak?.at]),
      [
        ['Great', 3, 0.75, DAYS[1]],
        ['Small', 1, 0.25, DAYS[0]],
      ],
    );
  });

  it('has no shares or total where values do not add up', () => {
    const waits = answer({ metric: 'wait_ms_p95' }, { A: [10, null], B: [20, 5] });
    assert.deepEqual(
      rankedRows(waits, false).map(({ share }) => share),
      [null, null],
    );
    assert.equal(wholeOf(waits, false), null);
  });

  it('the total is the sum of all groups, with mean and peak', () => {
    assert.deepEqual(wholeOf(answer({}, { A: [1, 2], B: [3, 6] }), true), {
      total: 12,
      mean: 6,
      peak: { at: DAYS[1], value: 8 },
      unpriced: 0,
    });
  });

  it('a spend without any price has no total, and its groups are ranked without one', () => {
    const spend = answer({ metric: 'cost_micros' }, { A: [null, null] });
    const unpriced = {
      ...spend,
      series: spend.series.map((each) => ({ ...each, total: null, unpriced_requests: 4 })),
    };
    const whole = wholeOf(unpriced, true);
    assert.deepEqual([whole?.total, whole?.mean, whole?.unpriced], [null, null, 4]);
    assert.deepEqual(
      rankedRows(unpriced, true).map(({ label, total }) => [label, total]),
      [['A', null]],
    );
  });
});

describe('the CSV', () => {
  it('has the rows and columns of the ranking, with units', () => {
    const csv = csvOf(answer({}, { Small: [1, 0], None: [0, 0], 'Great, =B': [1, 2] }));
    assert.equal(
      csv,
      `Lane,Requests,"Share, %",Peak,"Peak at, UTC"\r\n"Great, =B",3,75,2,${DAYS[1]}\r\nSmall,1,25,1,${DAYS[0]}\r\n`,
    );
  });

  it('has no shares where values do not add up', () => {
    const csv = csvOf(answer({ metric: 'wait_ms_p95' }, { A: [10, null] }));
    assert.equal(csv, `Lane,"Wait (p95), ms","Peak, ms","Peak at, UTC"\r\nA,10,10,${DAYS[0]}\r\n`);
  });

  it('has the points in exact dollars where there are no groups', () => {
    const points = [{ at: DAYS[0] ?? '', value: 0, value_usd: '0.0000002' }];
    const series = [
      { kind: 'all', key: null, label: 'all', total: 0, total_usd: '0.0000002', points },
    ] as const;
    const csv = csvOf({ ...answer({ metric: 'cost_micros', group_by: 'none' }, {}), series: [...series] });
    assert.equal(csv, `"Time, UTC","Spend, USD"\r\n${DAYS[0]},0.0000002\r\n`);
  });

  it('is named by its content', () => {
    const spend = answer({ metric: 'cost_micros' }, {});
    assert.equal(csvName(spend, false), 'usage-spend-by-lane-2026-03-01-to-2026-03-02.csv');
    const day = { ...spend, group_by: 'none', to: DAYS[1] ?? '' } as const;
    assert.equal(csvName(day, true), 'usage-spend-filtered-2026-03-01.csv');
  });
});
