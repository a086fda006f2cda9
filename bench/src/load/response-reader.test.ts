import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ResponseReader } from './response-reader.ts';

const SIZED = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
const REFUSED = 'HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n';
const FRAMES = ['data: {"a":1}\n\n', 'data: {"b":"\\n\\n"}\n\n', 'data: [DONE]\n\n'];
const STREAMED = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${[...FRAMES, ''].map(chunkOf).join('')}`;

function chunkOf(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

describe('reading responses', () => {
  it('knows the end of a body with a length', () => {
    const reader = new ResponseReader();
    assert.equal(reader.push(Buffer.from(SIZED)), true);
    assert.deepEqual([reader.status, reader.bodyBytes], [200, 5]);
  });

  it('takes one response after the other', () => {
    const reader = new ResponseReader();
    assert.equal(reader.push(Buffer.from(REFUSED)), true);
    assert.equal(reader.status, 429);
    assert.equal(reader.push(Buffer.from(SIZED)), true);
    assert.equal(reader.status, 200);
  });

  it('counts every frame and finds the end wherever the pieces are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: STREAMED.length }), { maxLength: 20 }), (cuts) => {
        const reader = new ResponseReader();
        const places = [...new Set([0, ...cuts, STREAMED.length])].sort((a, b) => a - b);
        let ends = 0;
        for (let index = 1; index < places.length; index += 1) {
          if (reader.push(Buffer.from(STREAMED.slice(places[index - 1], places[index])))) ends += 1;
        }
        assert.deepEqual([ends, reader.frames], [1, FRAMES.length]);
      }),
    );
  });

  it('refuses a response that has no length', () => {
    assert.throws(
      () => new ResponseReader().push(Buffer.from('HTTP/1.1 200 OK\r\n\r\n')),
      /without a length/,
    );
  });
});
