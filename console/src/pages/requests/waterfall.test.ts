import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestDetail } from '@relay/contract';
import { lengthMs, stepsOf, ticksOf } from './waterfall.ts';

const ARRIVED = '2026-11-15T10:00:00.000Z';
const at = (ms: number) => new Date(Date.parse(ARRIVED) + ms).toISOString();
const attempt = (number: number, startedMs: number, waitMs: number, tookMs: number) =>
  ({ attempt: number, started_at: at(startedMs), wait_ms: waitMs, duration_ms: tookMs }) as never;

function detailOf(part: object): RequestDetail {
  return {
    arrived_at: ARRIVED,
    wait_ms: 0,
    duration_ms: 500,
    attempts: [],
    guardrails: [],
    timings: { receive_ms: 2, route_ms: 1, wait_ms: 0, total_ms: 500 },
    ...part,
  } as unknown as RequestDetail;
}

const shape = (detail: RequestDetail) =>
  stepsOf(detail).map(({ kind, startMs, tookMs }) => [kind, startMs, tookMs]);

test('a request with a fallback has a wait and two attempts', () => {
  const detail = detailOf({
    guardrails: [
      { stage: 'post_response', latency_ms: 20 },
      { stage: 'pre_dispatch', latency_ms: 10 },
    ],
    attempts: [attempt(1, 113, 100, 40), attempt(2, 155, 0, 300)],
    timings: { receive_ms: 2, route_ms: 1, wait_ms: 100, total_ms: 480 },
  });
  assert.deepEqual(shape(detail), [
    ['prepare', 0, 3],
    ['guard', 3, 10],
    ['wait', 13, 100],
    ['attempt', 113, 40],
    ['attempt', 155, 300],
    ['guard', 455, 20],
  ]);
});

test('a request that timed out waiting has a wait and no attempt', () => {
  const detail = detailOf({
    wait_ms: 400,
    timings: { receive_ms: 1, route_ms: 1, wait_ms: 400, total_ms: 402 },
  });
  assert.deepEqual(shape(detail), [
    ['prepare', 0, 2],
    ['wait', 2, 400],
  ]);
});

test('the chart is as long as the last end, and never empty', () => {
  const detail = detailOf({ attempts: [attempt(1, 3, 0, 700)] });
  assert.equal(lengthMs(detail, stepsOf(detail)), 703);
  assert.equal(lengthMs(detailOf({ duration_ms: 0, timings: {} }), []), 1);
});

test('the axis has a few round ticks', () => {
  for (const totalMs of [1, 7, 100, 703, 12_345, 600_000]) {
    const ticks = ticksOf(totalMs);
    assert.ok(ticks.length >= 2 && ticks.length <= 6, `${totalMs}: ${ticks.join(' ')}`);
    assert.ok((ticks.at(-1) ?? 0) <= totalMs);
  }
});
