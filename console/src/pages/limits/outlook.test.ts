import assert from 'node:assert/strict';
import { test } from 'node:test';
import { burnDown, slidingUse, stretchOf } from '../../parts/burn-down.ts';
import type { LimitRow } from './limit-row.ts';
import { listedBefore, outlookOf, severityOf } from './outlook.ts';

const NOON_MS = Date.UTC(2026, 2, 31, 12);

interface Used {
  readonly used?: number;
  readonly reserved?: number;
  readonly runsOutAt?: string;
  readonly perHour?: number | null;
}

function row(over: Partial<LimitRow> & Used = {}): LimitRow {
  const { used = 0, reserved = 0, runsOutAt = null, perHour = null, ...rest } = over;
  const limit = rest.limit ?? 100;
  const base: LimitRow = {
    id: 'a',
    kind: 'resource',
    subjectId: null,
    scope: 'global',
    scopeId: null,
    metric: 'requests',
    period: 'day',
    limit,
    unpriced: 'refuse',
    enforcement: 'estimate',
    enabled: true,
    alertAt: [],
    alertOnForecast: false,
    fromFile: false,
    ofEndpoint: false,
    usage: null,
  };
  const usage = {
    policy_id: 'a',
    policy_kind: 'resource',
    subject_id: null,
    scope_type: 'global',
    scope_id: null,
    metric: 'requests',
    period: rest.period ?? 'day',
    limit,
    used,
    reserved,
    remaining: Math.max(0, limit - used - reserved),
    resets_at: null,
    rate_per_hour: perHour,
    forecast: null,
    runs_out_at: runsOutAt,
  } as const;
  return { ...base, usage, ...rest };
}

test('a limit runs out when the server says so, or now', () => {
  const runsOutAt = '2026-03-31T15:00:00.000Z';
  assert.equal(outlookOf(row({ used: 80, runsOutAt }), NOON_MS).runsOutMs, NOON_MS + 3 * 3_600_000);
  assert.equal(outlookOf(row({ used: 80 }), NOON_MS).runsOutMs, null);
  assert.equal(outlookOf(row({ used: 100, runsOutAt }), NOON_MS).runsOutMs, NOON_MS);
});

test('a limit is close at 20% left, including reservations, and exhausted at 0', () => {
  assert.equal(outlookOf(row({ used: 79 }), NOON_MS).state, 'enabled');
  assert.equal(outlookOf(row({ used: 70, reserved: 10 }), NOON_MS).state, 'close');
  assert.equal(outlookOf(row({ used: 130 }), NOON_MS).state, 'exhausted');
  assert.equal(outlookOf(row({ limit: 0 }), NOON_MS).state, 'exhausted');
  assert.equal(outlookOf(row({ used: 130, enabled: false }), NOON_MS).state, 'disabled');
});

test('only limits that reject are exhausted: at a limit on concurrency, or per second or minute, requests wait', () => {
  const full = { limit: 1, used: 1, runsOutAt: '2026-03-31T12:00:00.000Z' };
  for (const period of ['none', 'second', 'minute'] as const) {
    const { state, runsOutMs } = outlookOf(row({ ...full, period }), NOON_MS);
    assert.deepEqual([state, runsOutMs], ['full', null], period);
    assert.equal(outlookOf(row({ limit: 100, used: 90, period }), NOON_MS).state, 'enabled');
    assert.equal(outlookOf(row({ limit: 0, period }), NOON_MS).state, 'exhausted');
  }
  for (const period of ['hour', 'day', 'week', 'month'] as const)
    assert.equal(outlookOf(row({ ...full, period }), NOON_MS).state, 'exhausted');
});

const listed = (rows: readonly LimitRow[]) =>
  rows
    .map((each) => ({ row: each, outlook: outlookOf(each, NOON_MS) }))
    .sort(listedBefore)
    .map((each) => each.row.id);

test('calendar limits come first, by the least remaining share, then by exhaustion; disabled ones last', () => {
  const rows = [
    row({ id: 'off', used: 100, enabled: false }),
    row({ id: 'full-minute', used: 100, period: 'minute' }),
    row({ id: 'half', used: 50 }),
    row({ id: 'tenth', used: 90 }),
    row({ id: 'tenth-by-day', used: 90, runsOutAt: '2026-03-31T13:00:00.000Z' }),
    row({ id: 'full', used: 100 }),
  ];
  assert.deepEqual(listed(rows), ['full', 'tenth-by-day', 'tenth', 'half', 'full-minute', 'off']);
});

test('limits that only make requests wait keep their places, however full they are', () => {
  const rows = (a: number, b: number) => [
    row({ id: 'b', limit: 1, used: b, metric: 'concurrency', period: 'none' }),
    row({ id: 'day', used: 10 }),
    row({ id: 'a', limit: 1, used: a, metric: 'concurrency', period: 'none' }),
  ];
  for (const [a, b] of [
    [0, 1],
    [1, 0],
    [1, 1],
  ] as const)
    assert.deepEqual(listed(rows(a, b)), ['day', 'a', 'b']);
  const severity = (used: number) => {
    const each = row({ limit: 1, used, metric: 'concurrency', period: 'none' });
    return severityOf({ row: each, outlook: outlookOf(each, NOON_MS) });
  };
  assert.equal(severity(0), severity(1));
});

test('the remaining amount falls with usage, ends at the live state and continues linearly', () => {
  const nowMs = NOON_MS + 1_800_000;
  const stretch = stretchOf('day', nowMs);
  assert.ok(stretch !== null && stretch.step === 'hour');
  const counted = [
    { at: '2026-03-31T02:00:00.000Z', value: 10 },
    { at: '2026-03-31T03:00:00.000Z', value: 15 },
    { at: '2026-03-31T12:00:00.000Z', value: 5 },
  ];
  const { usage } = row({ used: 50, perHour: 4 });
  assert.ok(usage !== null);
  const { left, projected } = burnDown(usage, counted, stretch, nowMs);
  assert.equal(left.length, 24);
  const valueAt = (points: typeof left, hour: number) => points[hour]?.value;
  assert.deepEqual(
    [0, 2, 3, 11, 12, 13].map((hour) => valueAt(left, hour)),
    [100, 90, 75, 75, 50, null],
  );
  assert.deepEqual(
    [11, 12, 13, 23].map((hour) => valueAt(projected, hour)),
    [null, 50, 44, 4],
  );
  const early = burnDown({ ...usage, rate_per_hour: null }, counted, stretch, nowMs);
  assert.ok(early.projected.every(({ value }) => value === null));
});

test('rejected requests in the statistics do not reduce the remaining amount', () => {
  const nowMs = NOON_MS + 1_800_000;
  const stretch = stretchOf('day', nowMs);
  const { usage } = row({ used: 100 });
  assert.ok(usage !== null && stretch !== null);
  const { left } = burnDown(usage, [{ at: '2026-03-31T02:00:00.000Z', value: 180 }], stretch, nowMs);
  assert.equal(left[2]?.value, 0);
  const half = row({ used: 50 }).usage;
  assert.ok(half !== null);
  const { left: leftOfHalf } = burnDown(
    half,
    [{ at: '2026-03-31T02:00:00.000Z', value: 180 }],
    stretch,
    nowMs,
  );
  assert.equal(leftOfHalf[2]?.value, 50);
});

test('a limit per second is compared with the mean of the minute', () => {
  const counted = [{ at: '2026-03-31T02:00:00.000Z', value: 120 }];
  assert.equal(slidingUse({ limit: 5, period: 'second' }, counted).used[0]?.value, 2);
  assert.equal(slidingUse({ limit: 5, period: 'minute' }, counted).used[0]?.value, 120);
});
