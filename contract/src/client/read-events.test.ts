import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createEventParser, readEventBatches, readEvents, type ServerEvent } from './read-events.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

function streamOf(chunks: readonly Uint8Array[]) {
  const seen = { isCancelled: false };
  const left = [...chunks];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = left.shift();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
    cancel() {
      seen.isCancelled = true;
    },
  });
  return { body, seen };
}

async function eventsOf(...chunks: Uint8Array[]): Promise<ServerEvent[]> {
  return collect(readEvents(streamOf(chunks).body));
}

async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of source) all.push(each);
  return all;
}

const message = (data: string, id: string | null = null) => ({ event: 'message', data, id });

describe('readEvents', () => {
  for (const [name, lineEnd] of Object.entries({ LF: '\n', CRLF: '\r\n', CR: '\r' })) {
    it(`returns the same events wherever the stream is cut, with ${name} line ends`, async () => {
      const lines = [': ping', '', 'id: 7', 'data: é', 'data:🙂', '', 'event: end', 'data: {"a":1}', '', ''];
      const bytes = encode(lines.join(lineEnd));
      await fc.assert(
        fc.asyncProperty(fc.nat({ max: bytes.length }), fc.nat({ max: bytes.length }), async (a, b) => {
          const [first, second] = a < b ? [a, b] : [b, a];
          const parts = [bytes.slice(0, first), bytes.slice(first, second), bytes.slice(second)];
          assert.deepEqual(await eventsOf(...parts), [
            message('é\n🙂', '7'),
            { event: 'end', data: '{"a":1}', id: null },
          ]);
        }),
      );
    });
  }

  it('ignores comments, retry, unknown fields and an event that never ended', async () => {
    const text = ': ping\n\nretry: 1000\n\ncolor: red\ndata: a\ndata: b\n\ndata: half';
    assert.deepEqual(await eventsOf(encode(text)), [message('a\nb')]);
  });

  it('accepts a field without a value, a value without a space, and a byte order mark', async () => {
    assert.deepEqual(await eventsOf(encode('\uFEFFdata\ndata:x\n\n')), [message('\nx')]);
  });

  it('removes one space after the colon and no more', async () => {
    assert.deepEqual(await eventsOf(encode('data:  x\n\n')), [message(' x')]);
  });

  it('keeps the ID of its own event only, and ignores one with a NUL character', async () => {
    const events = await eventsOf(encode('id: a\ndata: 1\n\ndata: 2\n\nid: b\0c\ndata: 3\n\n'));
    assert.deepEqual(
      events.map(({ id }) => id),
      ['a', null, null],
    );
  });

  it('cancels the body when its consumer stops early', async () => {
    const { body, seen } = streamOf([encode('data: 1\n\n'), encode('data: 2\n\n')]);
    for await (const { data } of readEvents(body)) {
      assert.equal(data, '1');
      break;
    }
    assert.equal(seen.isCancelled, true);
  });

  it('passes on the error of a broken stream', async () => {
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error('reset')),
    });
    await assert.rejects(collect(readEvents(body)), /reset/);
  });

  it('has no events without a body', async () => {
    assert.deepEqual(await collect(readEvents(null)), []);
  });
});

describe('readEventBatches', () => {
  it('returns the events of each chunk together, and an empty batch for a comment', async () => {
    const { body } = streamOf([encode('data: 1\n\ndata: 2\n\n'), encode(': ping\n\n')]);
    const batches = await collect(readEventBatches(body));
    assert.deepEqual(
      batches.map((events) => events.map(({ data }) => data)),
      [['1', '2'], []],
    );
  });
});

describe('createEventParser', () => {
  it('fails on an event that is longer than the limit, in one line or in several', () => {
    const endless = createEventParser({ eventCharsMax: 100 });
    endless.push(encode('data: '));
    assert.throws(() => {
      for (let times = 0; times < 11; times += 1) endless.push(encode('0123456789'));
    }, /more than 100 characters/);
    const lines = createEventParser({ eventCharsMax: 100 });
    assert.throws(() => lines.push(encode('data: x\n'.repeat(20))), /more than 100 characters/);
  });

  it('applies the limit to each event, not to the stream', () => {
    const parser = createEventParser({ eventCharsMax: 100 });
    for (let times = 0; times < 50; times += 1) {
      assert.equal(parser.push(encode('data: 0123456789\n\n')).length, 1);
    }
    assert.equal(parser.push(encode('data: 0123456789\n\n'.repeat(50))).length, 50);
  });
});
