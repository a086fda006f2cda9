import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createSseReader } from './read-sse.ts';

const stream = ': hello\n\ndata: {"a":1}\n\nevent: end\nid: 7\ndata: one\ndata: two\n\n';
const expected = [
  { event: 'message', data: '{"a":1}', id: null },
  { event: 'end', data: 'one\ntwo', id: '7' },
];

test('events are the same wherever the stream is cut', () => {
  fc.assert(
    fc.property(fc.nat({ max: stream.length }), fc.nat({ max: stream.length }), (a, b) => {
      const [first, second] = a < b ? [a, b] : [b, a];
      const reader = createSseReader();
      const parts = [stream.slice(0, first), stream.slice(first, second), stream.slice(second)];
      assert.deepEqual(
        parts.flatMap((part) => reader.push(part)),
        expected,
      );
    }),
  );
});

test('a half event is kept for later', () => {
  const reader = createSseReader();
  assert.deepEqual(reader.push('data: half'), []);
  assert.equal(reader.push(' of it\r\n\r\n')[0]?.data, 'half of it');
});
