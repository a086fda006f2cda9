import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { describe, it } from 'node:test';
import { smallestUuidAt } from '../../../kit/uuid-time.ts';
import { sampleRow } from '../ledger-row.fixture.ts';
import type { LedgerRow } from '../ledger-row.ts';
import { rollupsOf } from './rollups.ts';

const AT_MS = Date.parse('2026-03-10T11:59:30.500Z');
const organizationId = randomUUIDv7();

const ATTEMPT: LedgerRow['attempts'][number] = {
  endpoint_id: 'e',
  provider_id: 'p',
  upstream_model: 'm',
  outcome: 'completed',
  status: 200,
  cause: null,
  wait_ms: 0,
  latency_ms: 0,
  started_ms: null,
};

function rowAt(timeMs: number, over: Parameters<typeof sampleRow>[0] = {}) {
  return sampleRow({ request_id: smallestUuidAt(timeMs), organization_id: organizationId, ...over });
}

describe('sums of ledger rows', () => {
  it('are of two families: resources without callers, callers without credentials', () => {
    const ids = {
      user_id: randomUUIDv7(),
      key_id: randomUUIDv7(),
      endpoint_id: randomUUIDv7(),
      lane_id: randomUUIDv7(),
      provider_id: randomUUIDv7(),
      credential_id: randomUUIDv7(),
    };
    const sums = rollupsOf([{ row: rowAt(AT_MS, ids), times: 1 }]);
    assert.deepEqual(
      sums.map(({ family, bucket, bucket_start }) => [family, bucket, bucket_start.toISOString()]),
      [
        ['caller', 'minute', '2026-03-10T11:59:00.000Z'],
        ['resource', 'minute', '2026-03-10T11:59:00.000Z'],
        ['caller', 'hour', '2026-03-10T11:00:00.000Z'],
        ['resource', 'hour', '2026-03-10T11:00:00.000Z'],
        ['caller', 'day', '2026-03-10T00:00:00.000Z'],
        ['resource', 'day', '2026-03-10T00:00:00.000Z'],
      ],
    );
    for (const sum of sums) {
      const { user_id, key_id, endpoint_id, lane_id, provider_id, credential_id } = sum;
      assert.deepEqual(
        { user_id, key_id, endpoint_id, lane_id, provider_id, credential_id },
        sum.family === 'resource' ? { ...ids, user_id: null, key_id: null } : { ...ids, credential_id: null },
      );
    }
  });

  it('add rows of one bucket and keep those of the next apart', () => {
    const changes = [
      rowAt(AT_MS, { wait_ms: 20, ttft_ms: 5, latency_ms: 90, fallback_count: 2 }),
      rowAt(AT_MS + 1, { wait_ms: 5, latency_ms: 95, state: 'failed', usage_source: 'estimated' }),
      rowAt(AT_MS + 30_000, { state: 'cancelled', usage_source: 'none', actual_cost_micros: null }),
    ].map((row) => ({ row, times: 1 as const }));
    const resources = rollupsOf(changes).filter(({ family }) => family === 'resource');
    const of = (bucket: string) => resources.filter((sum) => sum.bucket === bucket);
    assert.deepEqual([of('minute').length, of('hour').length, of('day').length], [2, 2, 1]);
    const [day] = of('day');
    assert.ok(day);
    assert.deepEqual([day.requests_completed, day.requests_failed, day.requests_cancelled], [1, 1, 1]);
    assert.deepEqual([day.requests_metered, day.requests_estimated], [2, 1]);
    assert.deepEqual([day.input_tokens, day.output_tokens, day.cost_micros], [10, 10, 2 ** 41]);
    assert.deepEqual([day.wait_ms_sum, day.wait_ms_max, day.fallbacks], [25, 20, 2]);
    assert.deepEqual([day.ttft_ms_sum, day.ttft_count, day.latency_ms_sum], [5, 1, 197]);
    assert.deepEqual(
      [day.wait_bins, day.wait_counts],
      [
        [0, 5, 20],
        [1, 1, 1],
      ],
    );
    assert.deepEqual(
      [day.latency_bins, day.latency_counts],
      [
        [12, 90, 95],
        [1, 1, 1],
      ],
    );
  });

  it('count the first content in bins from the last dispatch, and its sum from arrival', () => {
    const attempt = (started_ms: number | null) => ({ ...ATTEMPT, started_ms });
    const changes = [
      rowAt(AT_MS, { wait_ms: 20_000, ttft_ms: 20_250, attempts: [attempt(20_050)] }),
      rowAt(AT_MS, { ttft_ms: 900, fallback_count: 1, attempts: [attempt(10), attempt(580)] }),
      rowAt(AT_MS, { ttft_ms: 70, attempts: [attempt(null)] }),
      rowAt(AT_MS, { ttft_ms: 5, attempts: [] }),
    ].map((row) => ({ row, times: 1 as const }));
    const day = rollupsOf(changes).at(-1);
    assert.ok(day);
    assert.deepEqual([day.ttft_ms_sum, day.ttft_count], [21_225, 4]);
    assert.deepEqual(
      [day.ttft_bins, day.ttft_counts],
      [
        [200, 320],
        [1, 1],
      ],
    );
  });

  it('come in one order, whatever the order of the rows', () => {
    const rows = Array.from({ length: 50 }, (_, index) =>
      rowAt(AT_MS + index * 20_000, { user_id: randomUUIDv7(), endpoint_id: randomUUIDv7() }),
    );
    const sums = (list: typeof rows) => rollupsOf(list.map((row) => ({ row, times: 1 })));
    assert.deepEqual(sums(rows.toReversed()), sums(rows));
  });

  it('count a row that is replaced as if it had never been', () => {
    const estimate = rowAt(AT_MS, { state: 'failed', usage_source: 'estimated', latency_ms: 20_000 });
    const real = rowAt(AT_MS, { latency_ms: 50 });
    const sums = rollupsOf([
      { row: estimate, times: 1 },
      { row: estimate, times: -1 },
      { row: real, times: 1 },
    ]);
    assert.deepEqual(sums, rollupsOf([{ row: real, times: 1 }]));
  });
});
