import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CLIENT_SAMPLED_PER_SECOND, createTracer } from './tracer.ts';

const SAMPLED = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
const UNSAMPLED = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00' };

function tracer(sampleRatio: number, drawn = 0.5) {
  const time = { ms: 0 };
  const taken: (readonly Buffer[])[] = [];
  const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => time.ms };
  const sink = { take: (spans: readonly Buffer[]) => void taken.push(spans) };
  return { time, taken, ...createTracer({ sink, clock, sampleRatio, random: () => drawn }) };
}

describe('tracer', () => {
  it('traces the share of requests that is set', () => {
    assert.equal(tracer(0.01, 0.02).begin({}), null);
    assert.notEqual(tracer(0.01, 0.009).begin({}), null);
    assert.equal(tracer(0, 0).begin({}), null);
    assert.notEqual(tracer(1, 0.999).begin({}), null);
  });

  it('follows a client: its trace when it is sampled, none when it is not', () => {
    assert.equal(tracer(0).begin(SAMPLED)?.traceId, '0af7651916cd43dd8448eb211c80319c');
    assert.equal(tracer(1).begin(UNSAMPLED), null);
  });

  it('follows clients for a bounded number of requests in a second', () => {
    const { begin, time } = tracer(0);
    const traced = () =>
      Array.from({ length: 3 * CLIENT_SAMPLED_PER_SECOND }, () => begin(SAMPLED)).filter(Boolean).length;
    assert.equal(traced(), CLIENT_SAMPLED_PER_SECOND);
    time.ms = 1_000;
    assert.equal(traced(), CLIENT_SAMPLED_PER_SECOND);
  });

  it('gives a trace to the sink at its end, with a bounded number of spans', () => {
    const { begin, taken } = tracer(1);
    const trace = begin({});
    assert.ok(trace !== null);
    for (let step = 0; step < 1_000; step += 1) trace.step({ name: 'admit', startMs: 0, endMs: 1 });
    assert.equal(taken.length, 0);
    trace.end({ name: 'POST /v1/chat/completions', startMs: 0, endMs: 2 });
    assert.deepEqual(
      taken.map(({ length }) => length),
      [129],
    );
  });
});
