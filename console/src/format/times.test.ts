import assert from 'node:assert/strict';
import { test } from 'node:test';

// Set before the formatters are created: a zone in which the day differs, so that a local time cannot pass for UTC.
process.env['TZ'] = 'Asia/Tokyo';
const {
  formatAgo,
  formatBucket,
  formatClock,
  formatDateTime,
  formatDay,
  formatExactTime,
  formatHover,
  formatMoment,
  formatMonth,
  formatTick,
} = await import('./times.ts');

const AT = '2026-11-15T23:03:09.500Z';
const nowMs = Date.parse(AT);
const shifted = (ms: number) => new Date(nowMs + ms).toISOString();

test('times are in UTC, in one format', () => {
  assert.equal(formatDateTime(AT), 'Nov 15, 2026, 23:03 UTC');
  assert.equal(formatExactTime(AT), 'Nov 15, 2026, 23:03:09 UTC');
  assert.equal(formatDay(AT), 'Nov 15, 2026');
  assert.equal(formatClock(AT), '23:03:09');
  assert.equal(formatMonth('2026-11'), 'November 2026');
});

test('the hover text adds the local time with its zone', () => {
  assert.equal(formatHover(AT), 'Nov 15, 2026, 23:03:09 UTC (Nov 16, 08:03:09 GMT+9)');
});

test('a time on another day has its date', () => {
  assert.equal(formatMoment(nowMs, nowMs), '23:03 UTC');
  assert.equal(formatMoment(nowMs + 3_600_000, nowMs), 'Nov 16, 00:03 UTC');
});

test('a recent time is relative, in one unit, and a distant one is a date', () => {
  const said = [-200_000, -4_000, -45_000, -7_199_000, 2 * 86_400_000, -8 * 86_400_000].map((ms) =>
    formatAgo(shifted(ms), nowMs),
  );
  assert.deepEqual(said, ['3 min ago', 'just now', '45 s ago', '1 h ago', 'in 2 d', 'Nov 7, 2026']);
});

test('chart times have the precision of their bucket, and midnight shows its day on an axis', () => {
  assert.equal(formatBucket('2026-11-15T23:00:00.000Z', 'hour'), 'Nov 15, 23:00 UTC');
  assert.equal(formatBucket('2026-11-15T00:00:00.000Z', 'day'), 'Sun, Nov 15, 2026');
  assert.equal(formatTick('2026-11-15T23:00:00.000Z', 'hour'), '23:00');
  assert.equal(formatTick('2026-11-16T00:00:00.000Z', 'hour'), 'Nov 16');
  assert.equal(formatTick('2026-11-16T00:00:00.000Z', 'day'), 'Nov 16');
});
