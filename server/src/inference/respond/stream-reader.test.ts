import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Operation } from '@relay/contract';
import fc from 'fast-check';
import { protocols } from '../../protocols/index.ts';
import { DONE, delta, event, FINISH, frame, HELLO, ROLE, read, USAGE } from './stream.fixture.ts';
import { StreamReader } from './stream-reader.ts';

const chat = protocols.chat.stream;
const responses = protocols.responses.stream;

describe('reading a chat stream', () => {
  it('holds the preamble back until content arrives', () => {
    const reader = new StreamReader(chat, false);
    assert.equal(read(reader, ROLE), '');
    assert.equal(reader.phase, 'holding');
    assert.equal(read(reader, HELLO), ROLE + HELLO);
    assert.equal(reader.phase, 'open');
  });

  it('relays what follows once it is opened, and still knows what the first content is', () => {
    const reader = new StreamReader(chat, true);
    const comment = ': PROCESSING\n\n';
    assert.equal(read(reader, ROLE), '');
    assert.equal(Buffer.concat(reader.open()).toString(), ROLE);
    assert.equal(read(reader, comment + ROLE), comment + ROLE);
    assert.deepEqual([reader.isKeptAlive, reader.hasContent], [true, false]);
    assert.equal(read(reader, HELLO + FINISH + USAGE + DONE), HELLO + FINISH + DONE);
    assert.deepEqual([reader.hasContent, reader.done], [true, true]);
    assert.deepEqual(reader.usage, { inputTokens: 3, outputTokens: 5, cachedInputTokens: 0 });
  });

  it('passes on an error before content once it is opened', () => {
    const reader = new StreamReader(chat, false, () => Buffer.from('cleaned'));
    reader.open();
    assert.equal(read(reader, ROLE + frame({ error: 'overloaded' })), `${ROLE}cleaned`);
    assert.deepEqual([reader.phase, reader.errored, reader.hasContent], ['open', true, false]);
  });

  it('knows a keep-alive of every protocol from a preamble', () => {
    const comment = ': still here\n\n';
    for (const [operation, keepAlive, preamble] of [
      ['chat', comment, ROLE],
      ['messages', event('ping'), event('message_start', { message: {} })],
      ['messages', comment, event('content_block_stop')],
      ['responses', event('keepalive', { sequence_number: 3 }), event('response.created')],
      ['responses', comment, event('response.in_progress')],
    ] as const) {
      const reader = new StreamReader(protocols[operation].stream, false);
      read(reader, preamble);
      assert.equal(reader.isKeptAlive, false, preamble);
      read(reader, keepAlive);
      assert.deepEqual([reader.isKeptAlive, reader.phase], [true, 'holding'], keepAlive);
      read(reader, preamble);
      assert.equal(reader.isKeptAlive, false, preamble);
    }
  });

  describe('that ends without an end of its own', () => {
    const finished = (index: number, reason: string | null = 'stop') =>
      frame({ choices: [{ index, delta: {}, finish_reason: reason }] });
    const endOf = (text: string, choices = 1, operation: Operation = 'chat') => {
      const reader = new StreamReader(protocols[operation].stream, false, undefined, () => choices);
      read(reader, text);
      const rest = reader.end();
      return { done: reader.done, rest: Buffer.concat(rest).toString() };
    };

    it('is complete if every choice has its reason', () => {
      assert.equal(endOf(HELLO + FINISH).done, true);
      assert.equal(endOf(HELLO + FINISH + USAGE).done, true);
      assert.equal(endOf(HELLO + finished(0) + finished(1), 2).done, true);
      const last = delta({ content: 'a' }).replace('"finish_reason":null', '"finish_reason":"stop"');
      assert.equal(endOf(HELLO + last).done, true);
      const unended = FINISH.trimEnd();
      assert.deepEqual(endOf(HELLO + unended), { done: true, rest: unended });
      const stopped = event('message_delta', { delta: { stop_reason: 'end_turn' } });
      assert.equal(endOf(stopped, 1, 'messages').done, true);
    });

    it('is not complete if a choice has none, or an empty one', () => {
      assert.equal(endOf(HELLO).done, false);
      assert.equal(endOf(HELLO + finished(0, '') + finished(0, null)).done, false);
      assert.equal(endOf(HELLO + finished(1), 2).done, false);
      assert.equal(endOf(HELLO + finished(1) + finished(1), 2).done, false);
      const item = event('response.output_item.done', { item: {} });
      assert.equal(endOf(item, 1, 'responses').done, false);
    });

    it('is not complete before it ended', () => {
      const reader = new StreamReader(chat, false);
      read(reader, HELLO + FINISH);
      assert.equal(reader.done, false);
    });
  });

  it('ignores a byte order mark before its first frame, and passes it on', () => {
    for (const [operation, first] of [
      ['chat', USAGE],
      ['messages', event('message_start', { message: { usage: { input_tokens: 3, output_tokens: 5 } } })],
    ] as const) {
      const reader = new StreamReader(protocols[operation].stream, false);
      assert.equal(Buffer.from(read(reader, `\ufeff${first}${HELLO}`)).toString(), `\ufeff${first}${HELLO}`);
      assert.equal(reader.count().reported?.inputTokens ?? reader.count().inPart?.inputTokens, 3);
    }
    const large = `\ufeffdata: ${JSON.stringify({ padding: 'x'.repeat(300_000), usage: { prompt_tokens: 3, completion_tokens: 5 }, choices: [] })}\n\n`;
    const reader = new StreamReader(chat, false);
    read(reader, large);
    assert.equal(reader.usage?.outputTokens, 5);
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

  it('takes the largest of each count when a provider sends usage more than once', () => {
    const of = (usage: object) => frame({ choices: [], usage });
    const more = of({ prompt_tokens: 3, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 2 } });
    const zeros = of({ prompt_tokens: 0, completion_tokens: 0 });
    for (const text of [USAGE + more, more + USAGE, USAGE + more + zeros, zeros + more]) {
      const reader = new StreamReader(chat, true);
      read(reader, HELLO + text + DONE);
      assert.deepEqual(reader.usage, { inputTokens: 3, outputTokens: 9, cachedInputTokens: 2 });
    }
  });

  describe('takes the service tier', () => {
    const tierOf = (...frames: readonly string[]) => {
      const reader = new StreamReader(chat, true);
      for (const each of frames) read(reader, each);
      return reader.usage?.serviceTier;
    };
    const said = (service_tier: string | null) => delta({ content: 'a' }, { service_tier });

    it('of any frame, whether or not usage is beside it', () => {
      assert.equal(tierOf(ROLE, said('priority'), USAGE, DONE), 'priority');
      assert.equal(tierOf(ROLE, HELLO, HELLO, said('flex'), FINISH, USAGE, DONE), 'flex');
      assert.equal(tierOf(ROLE, said(null), said(null), said('flex'), USAGE), 'flex');
      assert.equal(tierOf(said('flex') + USAGE + DONE), 'flex');
    });

    it('that was said last, also if it is the standard one', () => {
      const usage = (service_tier: string) =>
        frame({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 5 }, service_tier });
      assert.equal(tierOf(said('flex'), usage('default')), undefined);
      assert.equal(tierOf(said('default'), usage('priority')), 'priority');
      assert.equal(tierOf(said('default'), USAGE), undefined);
    });

    it('alone, when the stream is cut', () => {
      const reader = new StreamReader(chat, true);
      read(reader, said('flex'));
      assert.deepEqual(reader.count(), {
        reported: null,
        inPart: { serviceTier: 'flex' },
        streamedTokens: 1,
      });
    });
  });

  it('reads on after an error before content, in the bytes that came with it', () => {
    const error = frame({ error: { message: 'overloaded' } });
    const all = ROLE + error + USAGE;
    for (const text of [all, all.trimEnd(), all.replaceAll('\n', '\r\n')]) {
      const reader = new StreamReader(chat, true);
      assert.equal(read(reader, text), '');
      assert.equal(reader.phase, 'refused');
      assert.equal(reader.takeHeld().toString(), text);
      assert.equal(reader.usage?.outputTokens, 5);
    }
  });

  it('takes an error that reports zeros for one that reports nothing', () => {
    const zeros = frame({ error: { message: 'no' }, usage: { prompt_tokens: 0, completion_tokens: 0 } });
    const reader = new StreamReader(chat, true);
    read(reader, HELLO + zeros);
    assert.deepEqual([reader.usage, reader.count().inPart], [null, null]);
  });

  it('counts what was reported of a usage frame that is cut', () => {
    const reader = new StreamReader(chat, true);
    read(reader, HELLO + USAGE.slice(0, USAGE.indexOf(',"completion')));
    assert.deepEqual(reader.count().inPart, null);
    const later = new StreamReader(chat, true);
    read(later, HELLO + USAGE.slice(0, USAGE.indexOf('completion')));
    for (const each of [later.count(), later.count()])
      assert.deepEqual(each.inPart, { inputTokens: 3, cachedInputTokens: 0 });
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
    ['chat', `${ROLE + HELLO}: keep-alive\n\n${FINISH}${USAGE}${DONE}`],
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
