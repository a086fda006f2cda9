import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Operation } from '@relay/contract';
import fc from 'fast-check';
import { protocols } from '../../protocols/index.ts';
import { StreamReader } from './stream-reader.ts';

const chat = protocols.chat.stream;
const responses = protocols.responses.stream;

const frame = (value: unknown) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
const delta = (fields: object, more: object = {}) =>
  frame({ choices: [{ index: 0, delta: fields, finish_reason: null }], ...more });
const event = (type: string, fields: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;

const ROLE = delta({ role: 'assistant', content: '' });
const HELLO = delta({ content: 'hello "usage":{ [DONE] é' });
const FINISH = frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const USAGE = frame({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 5 } });
const DONE = frame('[DONE]');

function read(reader: StreamReader, text: string, cuts: readonly number[] = []): string {
  const bytes = Buffer.from(text);
  const places = [...new Set([0, ...cuts.map((cut) => cut % bytes.length), bytes.length])].sort(
    (a, b) => a - b,
  );
  const out: Buffer[] = [];
  for (let index = 0; index + 1 < places.length; index += 1) {
    out.push(...reader.push(bytes.subarray(places[index], places[index + 1])));
  }
  return Buffer.concat(out).toString();
}

describe('the output of a stream that reports no usage', () => {
  const tokensOf = (text: string) => {
    const reader = new StreamReader(chat, false);
    read(reader, text);
    return reader.streamedTokens;
  };

  it('is one token for each frame of content', () => {
    assert.equal(tokensOf(ROLE + delta({ content: ' unintelligible' }).repeat(7)), 7);
  });

  it('is what the text suggests where a frame has hundreds of tokens', () => {
    const large = delta({ content: 'word '.repeat(400) });
    for (const count of [1, 10]) {
      const tokens = tokensOf(ROLE + large.repeat(count));
      assert.ok(tokens >= 300 * count && tokens <= 500 * count, String(tokens));
    }
  });

  it('is the text of each frame, however little is around it and whatever it says', () => {
    const piece = 'a .audio. "audio" image_generation \\ "content": "x" '.repeat(2);
    for (const count of [1, 10]) {
      const tokens = tokensOf(ROLE + delta({ content: piece }).repeat(count));
      assert.ok(tokens >= 24 * count && tokens <= 34 * count, String(tokens));
    }
    const hello = delta({ content: 'hello' });
    assert.equal(tokensOf(ROLE + hello.repeat(3) + delta({ content: 'word '.repeat(40) })), 3 + 50);
  });

  it('counts the arguments of tools and thinking as text', () => {
    const text = 'word '.repeat(40);
    for (const said of [
      { tool_calls: [{ index: 0, function: { arguments: text } }] },
      { reasoning_content: text },
      { refusal: text },
    ])
      assert.equal(tokensOf(ROLE + delta(said).repeat(2)), 100, JSON.stringify(said).slice(0, 20));
  });

  it('is one token for a frame whose bytes are not text', () => {
    const bytes = 'x'.repeat(4_000);
    const probabilities = frame({
      choices: [{ index: 0, delta: { content: 'a' }, logprobs: { content: [{ token: bytes }] } }],
    });
    const audio = delta({ audio: { data: bytes } });
    assert.equal(tokensOf(ROLE + (probabilities + audio).repeat(3)), 6);
  });
});

describe('reading a chat stream', () => {
  it('holds the preamble back until content arrives', () => {
    const reader = new StreamReader(chat, false);
    assert.equal(read(reader, ROLE), '');
    assert.equal(reader.phase, 'holding');
    assert.equal(read(reader, HELLO), ROLE + HELLO);
    assert.equal(reader.phase, 'open');
  });

  it('refuses a stream that reports an error before content, and keeps its bytes', () => {
    const reader = new StreamReader(chat, false);
    const error = frame({ error: { message: 'overloaded' } });
    assert.equal(read(reader, ROLE + error), '');
    assert.equal(reader.phase, 'refused');
    assert.equal(reader.takeHeld().toString(), ROLE + error);
  });

  for (const error of [
    frame({ error: 'overloaded' }),
    'event: error\ndata: {"message":"overloaded"}\n\n',
    'event: error\ndata: overloaded\n\n',
  ]) {
    it(`takes ${JSON.stringify(error)} for an error, before and after content`, () => {
      const before = new StreamReader(chat, false);
      assert.equal(read(before, ROLE + error), '');
      assert.equal(before.phase, 'refused');
      const after = new StreamReader(chat, false, () => Buffer.from('cleaned'));
      // Split, so that nothing else in the chunk is noteworthy.
      const text = `${HELLO}${error}`;
      assert.equal(read(after, text, [Buffer.byteLength(HELLO)]), `${HELLO}cleaned`);
      assert.equal(after.errored, true);
    });
  }

  it('passes an error after content on and remembers it', () => {
    const reader = new StreamReader(chat, false);
    const error = frame({ error: { message: 'overloaded' } });
    assert.equal(read(reader, HELLO + error), HELLO + error);
    assert.equal(reader.errored, true);
    assert.equal(reader.done, false);
  });

  it('stops holding at sixty-four frames', () => {
    const reader = new StreamReader(chat, false);
    assert.equal(read(reader, ROLE.repeat(63)), '');
    assert.equal(read(reader, ROLE), ROLE.repeat(64));
  });

  it('stops holding at 256 KiB', () => {
    const reader = new StreamReader(chat, false);
    const large = delta({ role: 'x'.repeat(100_000) });
    assert.equal(read(reader, large + large), '');
    assert.equal(read(reader, large), large.repeat(3));
  });

  it('counts tool calls, refusals and finish reasons as content', () => {
    for (const fields of [{ tool_calls: [{ index: 0 }] }, { refusal: 'no' }, { reasoning_content: 'hm' }]) {
      const reader = new StreamReader(chat, false);
      read(reader, delta(fields));
      assert.equal(reader.phase, 'open', JSON.stringify(fields));
    }
    const finished = new StreamReader(chat, false);
    read(finished, FINISH);
    assert.equal(finished.phase, 'open');
  });

  it('drops the usage frame only when the client did not ask for it, and reads it either way', () => {
    const all = ROLE + HELLO + FINISH + USAGE + DONE;
    for (const drop of [true, false]) {
      const reader = new StreamReader(chat, drop);
      assert.equal(read(reader, all), drop ? ROLE + HELLO + FINISH + DONE : all);
      assert.deepEqual(reader.usage, { inputTokens: 3, outputTokens: 5, cachedInputTokens: 0 });
      assert.equal(reader.done, true);
    }
  });

  it('drops a usage frame that cannot be read as well, and no other frame without choices', () => {
    const others = frame({ choices: [], prompt_filter_results: [] }) + frame({ choices: [], usage: null });
    for (const usage of [{ prompt_tokens: -1 }, {}, [], 'none', 7]) {
      const unreadable = frame({ choices: [], usage });
      const kept = others + ROLE + HELLO + others + FINISH;
      const reader = new StreamReader(chat, true);
      assert.equal(read(reader, unreadable + kept + unreadable + DONE), kept + DONE, JSON.stringify(usage));
      assert.equal(reader.usage, null);
      assert.equal(read(new StreamReader(chat, false), kept + unreadable), kept + unreadable);
    }
  });

  it('takes the last usage when a provider sends it more than once', () => {
    const reader = new StreamReader(chat, true);
    const later = frame({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 9 } });
    read(reader, HELLO + USAGE + later + DONE);
    assert.equal(reader.usage?.outputTokens, 9);
  });

  it('counts a last frame without its blank line', () => {
    const reader = new StreamReader(chat, false);
    read(reader, HELLO);
    assert.equal(read(reader, 'data: [DONE]\n'), '');
    assert.equal(Buffer.concat(reader.end()).toString(), 'data: [DONE]\n');
    assert.equal(reader.done, true);
  });

  it('passes on a frame larger than the bound in pieces', () => {
    const reader = new StreamReader(chat, false);
    read(reader, HELLO);
    const large = 'x'.repeat(300 * 1024);
    assert.equal(read(reader, `data: ${large}`).length, large.length + 6);
  });
});

describe('reading a responses stream', () => {
  const CREATED = event('response.created', { response: { usage: null } });
  const TEXT = event('response.output_text.delta', { delta: 'hi' });

  it('holds announcements back until text arrives', () => {
    const reader = new StreamReader(responses, false);
    const added = event('response.output_item.added');
    assert.equal(read(reader, CREATED + added), '');
    assert.equal(read(reader, TEXT), CREATED + added + TEXT);
  });
  for (const failed of [event('error', { message: 'no' }), event('response.failed', { response: {} })]) {
    it(`refuses ${failed.slice(7, 22)} after response.created`, () => {
      const reader = new StreamReader(responses, false);
      read(reader, CREATED + failed);
      assert.equal(reader.phase, 'refused');
    });
  }
  it('ends with response.completed and reads its usage', () => {
    const reader = new StreamReader(responses, false);
    const usage = { input_tokens: 2, output_tokens: 4 };
    read(reader, CREATED + TEXT + event('response.completed', { response: { error: null, usage } }));
    assert.equal(reader.done, true);
    assert.equal(reader.usage?.outputTokens, 4);
  });
  it('is not ended by text that says so', () => {
    const reader = new StreamReader(responses, false);
    read(reader, TEXT + event('response.output_text.delta', { delta: 'response.completed' }));
    assert.equal(reader.done, false);
  });
});

const MESSAGE = [
  event('message_start', { message: { usage: { input_tokens: 3, output_tokens: 1 } } }),
  event('ping'),
  event('content_block_delta', { delta: { text: 'message_stop' } }),
  event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } }),
  event('message_stop'),
].join('');

describe('any stream, cut anywhere', () => {
  const streams: [Operation, string][] = [
    ['chat', ROLE + HELLO + ': keep-alive\n\n' + FINISH + USAGE + DONE],
    ['chat', (ROLE + HELLO + FINISH + DONE).replaceAll('\n', '\r\n')],
    ['chat', (ROLE + HELLO + FINISH + DONE).replaceAll('\n', '\r')],
    [
      'responses',
      event('response.created') + event('response.output_text.delta') + event('response.completed'),
    ],
    ['messages', MESSAGE],
    ['messages', MESSAGE.replaceAll('\n', '\r')],
  ];
  for (const [operation, text] of streams) {
    it(`${operation}: comes out byte for byte, in order, wherever chunks end`, () => {
      fc.assert(
        fc.property(fc.array(fc.nat(), { maxLength: 40 }), (cuts) => {
          const reader = new StreamReader(protocols[operation].stream, false);
          const out = read(reader, text, cuts) + Buffer.concat(reader.end()).toString();
          assert.equal(out, text);
          assert.equal(reader.done, true);
        }),
        { numRuns: 300 },
      );
    });
  }
  for (const lineEnd of ['\n', '\r\n', '\r']) {
    it(`in chunks of many frames with ${JSON.stringify(lineEnd)}`, () => {
      const written = (text: string) => text.replaceAll('\n', lineEnd);
      const text = written(ROLE + HELLO.repeat(500) + FINISH + USAGE + DONE);
      for (let bytes = 9_000; bytes < 9_200; bytes += 1) {
        const reader = new StreamReader(chat, true);
        const cuts = Array.from({ length: Math.ceil(text.length / bytes) }, (_, index) => index * bytes);
        const out = read(reader, text, cuts) + Buffer.concat(reader.end()).toString();
        assert.equal(out, text.replace(written(USAGE), ''));
      }
    });

    it(`byte by byte with ${JSON.stringify(lineEnd)}, without the usage frame`, () => {
      const reader = new StreamReader(chat, true);
      const written = (text: string) => text.replaceAll('\n', lineEnd);
      const text = written(ROLE + HELLO + FINISH + USAGE + DONE);
      const cuts = Array.from({ length: text.length * 2 }, (_, index) => index);
      const out = read(reader, text, cuts) + Buffer.concat(reader.end()).toString();
      assert.equal(out, text.replace(written(USAGE), ''));
      assert.equal(reader.done, true);
    });
  }
});

describe('an error frame', () => {
  const ERROR = frame({ error: { message: 'the key sk-secret is wrong' } });
  const readerOf = () => new StreamReader(chat, false, () => Buffer.from('cleaned'));

  it('is cleaned after content, also when the stream breaks off before its blank line', () => {
    const complete = readerOf();
    assert.equal(read(complete, HELLO + ERROR), `${HELLO}cleaned`);
    const cut = readerOf();
    const out = read(cut, HELLO + ERROR.trimEnd()) + Buffer.concat(cut.end()).toString();
    assert.equal(out, `${HELLO}cleaned`);
    assert.deepEqual([complete.errored, cut.errored], [true, true]);
  });
});
