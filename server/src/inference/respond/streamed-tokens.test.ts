import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { protocols } from '../../protocols/index.ts';
import { DONE, delta, event, frame, HELLO, MESSAGE_START, ROLE, read } from './stream.fixture.ts';
import { StreamReader } from './stream-reader.ts';

const chat = protocols.chat.stream;
const responses = protocols.responses.stream;

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

  it('is nothing for a frame without text, wherever it is', () => {
    const empty = delta({ content: '' }) + delta({}) + delta({ role: 'assistant', content: '' });
    const filtered = delta({}, { prompt_filter_results: [{ severity: 'safe' }] });
    const others = empty + filtered + frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    assert.equal(tokensOf(ROLE + (delta({ content: ' a' }) + others).repeat(1_600)), 1_600);
    assert.equal(tokensOf(others + delta({ content: ' unintelligible' }) + others), 1);
  });

  it('is nothing for the beginning and the end of a block', () => {
    const reader = new StreamReader(protocols.messages.stream, false);
    const block = (content_block: object) => event('content_block_start', { index: 0, content_block });
    const said = event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hello' } });
    const text =
      block({ type: 'text', text: '' }) + said.repeat(3) + event('content_block_stop', { index: 0 });
    for (const each of (MESSAGE_START + text.repeat(4)).split(/(?<=\n\n)/)) read(reader, each);
    assert.equal(reader.streamedTokens, 12);
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

describe('a frame larger than the bound', () => {
  const text = 'y'.repeat(300 * 1024);
  const cuts = Array.from({ length: 40 }, (_, index) => index * 16_000);

  for (const lineEnd of ['\n', '\r\n', '\r'])
    it(`is read while it passes, and so is what follows, with ${JSON.stringify(lineEnd)}`, () => {
      const usage = { prompt_tokens: 11, completion_tokens: 9_000 };
      const large = frame({ choices: [{ delta: { content: text } }], padding: [text], usage });
      const all = (ROLE + HELLO + large + HELLO + DONE).replaceAll('\n', lineEnd);
      for (const shift of [0, 1, 5, 77]) {
        const places = [
          ...cuts.map((cut) => cut + shift),
          ...[0, 1, 2, 3, 4, 5].map((back) => all.length - 130 - back),
        ];
        const reader = new StreamReader(chat, false);
        const out = read(reader, all, places) + Buffer.concat(reader.end()).toString();
        assert.equal(out, all);
        assert.equal(reader.done, true);
        assert.equal(reader.usage?.outputTokens, 9_000);
        assert.ok(reader.streamedTokens >= 75 * 1024 && reader.streamedTokens < 76 * 1024);
      }
    });

  it('that has the error of the stream ends it with an error', () => {
    const failed = event('response.failed', {
      response: { output: [text], usage: { input_tokens: 2, output_tokens: 4 } },
    });
    const started = event('response.output_text.delta', { delta: 'hi' });
    const reader = new StreamReader(responses, false);
    read(reader, started + failed, cuts);
    assert.deepEqual([reader.errored, reader.done, reader.usage?.outputTokens], [true, false, 4]);
  });

  it('is the end also without its blank line, but not when it is cut', () => {
    const last = event('response.completed', {
      response: { usage: { input_tokens: 2, output_tokens: 4 }, output: [text] },
    });
    for (const [end, isDone] of [
      [-1, true],
      [-2, true],
      [-3, false],
      [-1_000, false],
    ] as const) {
      const reader = new StreamReader(responses, false);
      read(reader, last.slice(0, end), cuts);
      assert.equal(reader.isInsideFrame, true);
      assert.deepEqual(reader.end(), []);
      assert.deepEqual([reader.done, reader.usage?.outputTokens], [isDone, 4]);
    }
  });

  it('of sound has no text', () => {
    const reader = new StreamReader(responses, false);
    read(reader, event('response.audio.delta', { delta: text }), cuts);
    assert.equal(reader.streamedTokens, 0);
  });
});
