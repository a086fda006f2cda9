import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestDetail } from '@relay/contract';
import { lengthMs, stepsOf, streamedPartOf, textPlaceOf, ticksOf } from './waterfall.ts';

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

test('a stream has its first token and its rate within the bar of its last attempt', () => {
  const servedFrom = (usage_source: string) =>
    ({
      ...(attempt(2, 200, 0, 1_000) as object),
      outcome: 'succeeded',
      usage_source,
      output_tokens: 120,
    }) as never;
  const failed = { ...(attempt(1, 100, 0, 50) as object), outcome: 'failed' } as never;
  const streamed = {
    streaming: true,
    // With what the failed attempt used.
    output_tokens: 130,
    usage_details: null,
    attempts: [failed, servedFrom('reported')],
    timings: { first_content_ms: 600, wait_ms: 0 },
  };
  const partsOf = (over: object) => {
    const detail = detailOf({ ...streamed, ...over });
    return stepsOf(detail).flatMap((step) => streamedPartOf(step, detail) ?? []);
  };
  assert.deepEqual(partsOf({}), [{ firstMs: 400, tokens: 120, perSecond: 200 }]);
  assert.deepEqual(partsOf({ streaming: false }), []);
  assert.deepEqual(partsOf({ timings: { first_content_ms: null, wait_ms: 0 } }), []);
  assert.deepEqual(partsOf({ timings: { first_content_ms: 150, wait_ms: 0 } }), [], 'of another attempt');
  assert.deepEqual(partsOf({ attempts: [failed, servedFrom('estimated')] }), [
    { firstMs: 400, tokens: null, perSecond: null },
  ]);
  const hidden = partsOf({ usage_details: { reasoning_tokens: 20 } });
  assert.deepEqual(
    hidden,
    [{ firstMs: 400, tokens: 120, perSecond: null }],
    'reasoning came before the first',
  );
  assert.equal(partsOf({ timings: { first_content_ms: 1_195, wait_ms: 0 } })[0]?.perSecond, null);
});

test('the text of a bar stands where there is room', () => {
  assert.equal(textPlaceOf(0.1, 0.4), 'after');
  assert.equal(textPlaceOf(0.5, 0.9), 'before');
  assert.equal(textPlaceOf(0.1, 0.9), 'inside');
});
