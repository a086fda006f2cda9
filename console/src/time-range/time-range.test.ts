import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  bucketsFor,
  keepTimeRange,
  previousMonth,
  rangeAround,
  rangeBefore,
  rangeOf,
  type TimeRangeSearch,
  timeRangeSearch,
} from './time-range.ts';

const NOW_MS = Date.parse('2026-03-10T12:00:30.500Z');

describe('the time range in the URL', () => {
  it('is a named relative range, and empty for the default', () => {
    assert.deepEqual(timeRangeSearch({ range: '7d', q: 'x' }), { range: '7d' });
    assert.deepEqual(timeRangeSearch({ range: '24h' }), {});
    assert.deepEqual(timeRangeSearch({ range: 'toString' }), {});
  });

  it('is a start and an end in order, which override a relative range', () => {
    const moments = { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' };
    assert.deepEqual(timeRangeSearch({ ...moments, range: '7d' }), {
      from: '2026-03-01T00:00:00.000Z',
      to: '2026-03-02T00:00:00.000Z',
    });
    assert.deepEqual(timeRangeSearch({ from: moments.to, to: moments.from }), {});
    assert.deepEqual(timeRangeSearch({ from: moments.from }), {});
    assert.deepEqual(timeRangeSearch({ from: 'yesterday', to: moments.to }), {});
  });
});

describe('the time range of a link', () => {
  const linkOf = (search: TimeRangeSearch, link: object) => keepTimeRange({ search, next: () => link });
  const day = { from: '2026-03-10T00:00:00.000Z', to: '2026-03-11T00:00:00.000Z' };

  it('is that of the page if the link names none', () => {
    assert.deepEqual(linkOf({ range: '7d' }, { state: 'failed' }), { state: 'failed', range: '7d' });
    assert.deepEqual(linkOf(day, {}), day);
    assert.deepEqual(linkOf({}, { open: 'a' }), { open: 'a' });
  });

  it('is its own, whole, or the default that it asks for', () => {
    assert.deepEqual(linkOf({ range: '7d' }, day), day);
    assert.deepEqual(linkOf(day, { range: '30d' }), { range: '30d' });
    assert.deepEqual(linkOf({ range: '7d' }, { range: undefined }), { range: undefined });
  });
});

describe('a time range around a moment', () => {
  const at = '2026-03-10T09:00:00.000Z';

  it('is that in the URL if it contains the moment', () => {
    const day = { from: '2026-03-10T00:00:00.000Z', to: '2026-03-11T00:00:00.000Z' };
    assert.deepEqual(rangeAround(at, day, NOW_MS), day);
    assert.deepEqual(rangeAround(at, { range: '30d' }, NOW_MS), { range: '30d' });
  });

  it('is otherwise relative, or the day around a moment that is too long ago', () => {
    assert.deepEqual(rangeAround(at, { range: '1h' }, NOW_MS), { range: '24h' });
    assert.deepEqual(rangeAround('2026-03-05T00:00:00.000Z', {}, NOW_MS), { range: '7d' });
    assert.deepEqual(rangeAround('2025-03-05T00:00:00.000Z', {}, NOW_MS), {
      from: '2025-03-04T12:00:00.000Z',
      to: '2025-03-05T12:00:00.000Z',
    });
  });
});

describe('a calendar month', () => {
  it('begins in UTC and goes on with the clock', () => {
    assert.deepEqual(rangeOf({ range: 'month' }, NOW_MS), {
      name: 'month',
      from: '2026-03-01T00:00:00.000Z',
      to: '2026-03-10T12:01:00.000Z',
      bucket: 'day',
    });
    const first = rangeOf({ range: 'month' }, Date.parse('2026-03-01T00:00:00.000Z'));
    assert.deepEqual([first.from, first.to], ['2026-03-01T00:00:00.000Z', '2026-03-01T00:01:00.000Z']);
  });

  it('that is over begins and ends in UTC, over the turn of a year too', () => {
    assert.deepEqual(previousMonth(Date.parse('2026-01-31T23:59:59.000Z')), {
      from: '2025-12-01T00:00:00.000Z',
      to: '2026-01-01T00:00:00.000Z',
    });
  });
});

describe('a resolved time range', () => {
  it('ends with the current minute', () => {
    assert.deepEqual(rangeOf({ range: '1h' }, NOW_MS), {
      name: '1h',
      from: '2026-03-10T11:01:00.000Z',
      to: '2026-03-10T12:01:00.000Z',
      bucket: 'minute',
    });
  });

  it('uses buckets that give a readable number of points', () => {
    const buckets = (['15m', '24h', '7d', '30d', '90d'] as const).map(
      (range) => rangeOf({ range }, NOW_MS).bucket,
    );
    assert.deepEqual(buckets, ['minute', 'hour', 'hour', 'day', 'day']);
  });

  it('uses buckets that the server still keeps', () => {
    const hourAgo = (days: number) => {
      const from = new Date(NOW_MS - days * 86_400_000);
      return { from: from.toISOString(), to: new Date(from.getTime() + 3_600_000).toISOString() };
    };
    assert.deepEqual(
      [1, 9, 120].map((days) => rangeOf(hourAgo(days), NOW_MS).bucket),
      ['minute', 'hour', 'day'],
    );
    assert.deepEqual(bucketsFor(rangeOf({ range: '24h' }, NOW_MS), NOW_MS), ['minute', 'hour', 'day']);
    assert.deepEqual(bucketsFor(rangeOf({ range: '30d' }, NOW_MS), NOW_MS), ['hour', 'day']);
    assert.deepEqual(bucketsFor(hourAgo(120), NOW_MS), ['day']);
  });

  it('has a preceding range of equal length', () => {
    assert.deepEqual(rangeBefore(rangeOf({ range: '1h' }, NOW_MS)), {
      from: '2026-03-10T10:01:00.000Z',
      to: '2026-03-10T11:01:00.000Z',
    });
  });
});
