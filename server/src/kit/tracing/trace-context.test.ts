import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { traceContextOf } from './trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe('trace context', () => {
  it('is read from the headers of W3C', () => {
    const headers = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'vendor=1' };
    assert.deepEqual(traceContextOf(headers), {
      traceId: TRACE,
      spanId: SPAN,
      isSampled: true,
      traceState: 'vendor=1',
    });
    assert.equal(traceContextOf({ traceparent: `00-${TRACE}-${SPAN}-00` })?.isSampled, false);
    assert.equal(traceContextOf({ traceparent: `00-${TRACE}-${SPAN}-03` })?.isSampled, true);
    assert.equal(traceContextOf({ traceparent: `01-${TRACE}-${SPAN}-01-more` })?.traceId, TRACE);
  });

  it('is none where the header is not valid', () => {
    for (const traceparent of [
      '',
      'nonsense',
      `00-${TRACE}-${SPAN}`,
      `00-${TRACE}-${SPAN}-01-more`,
      `ff-${TRACE}-${SPAN}-01`,
      `00-${'0'.repeat(32)}-${SPAN}-01`,
      `00-${TRACE}-${'0'.repeat(16)}-01`,
      `00-${TRACE.toUpperCase()}-${SPAN}-01`,
      `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
    ])
      assert.equal(traceContextOf({ traceparent }), null, traceparent);
  });

  it('leaves out a state that is too long or not text', () => {
    const traceparent = `00-${TRACE}-${SPAN}-01`;
    for (const tracestate of ['a'.repeat(513), 'caf\u00e9=1'])
      assert.equal(traceContextOf({ traceparent, tracestate })?.traceState, '');
  });
});
