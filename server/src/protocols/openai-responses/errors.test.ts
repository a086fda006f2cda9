import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseFrame } from '../../kit/sse-frames.ts';
import { openaiResponses } from './index.ts';

/** Text of a model may look like a number of the sequence, escaped. */
const SENT =
  'data: {"type":"a","sequence_number":5}\n\ndata: {"sequence_number":6,"delta":"\\"sequence_number\\":9"}\n\n';
const error = { type: 'upstream_error', code: 'stream_interrupted', message: 'It broke.', request_id: 'r' };

describe('an error in a stream of Responses', () => {
  const frame = parseFrame(openaiResponses.errors.interruptedFrame(error, 502, SENT));

  it('is an event of its own with the members that clients read, and continues the sequence', () => {
    assert.equal(frame.event, 'error');
    assert.deepEqual(JSON.parse(frame.data), {
      type: 'error',
      code: 'stream_interrupted',
      message: 'It broke.',
      param: null,
      sequence_number: 7,
      error,
    });
  });

  it('is read as an error', () => {
    assert.equal(openaiResponses.stream.readFrame(frame).kind, 'error');
  });
});
