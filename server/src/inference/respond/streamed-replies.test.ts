import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { AnswerTranslator } from '../../protocols/translate/answer-translator.ts';
import { chatToMessages } from '../../protocols/translate/chat-to-messages/index.ts';
import {
  ALL,
  answer,
  cut,
  DONE,
  end,
  input,
  JSON_TYPE,
  leave,
  MESSAGE_START,
  type Replies,
  reported,
  type Settings,
  STREAM_TYPE,
  type Step,
  shutDown,
  spent,
  startReplies,
  stream,
  text,
  turns,
  USAGE,
} from './reply.fixture.ts';
import { event, frame } from './stream.fixture.ts';

const MIB = 1024 * 1024;

describe('what an attempt of which the client gets a part used', () => {
  let replies: Replies;

  before(async () => {
    replies = await startReplies();
  });
  after(() => replies.close());

  async function delivered(settings: Settings, ...steps: readonly Step[]) {
    const result = await replies.play(settings, ...steps);
    assert.ok(result.kind === 'delivered', result.kind);
    return { delivery: result.delivery, received: await result.received };
  }

  describe('in a stream', () => {
    it('is what came before it was cut, was refused, or lost its client', async () => {
      const messages = { operation: 'messages', ...stream } as const;
      const inPart = { reported: null, inPart: input, streamedTokens: 0 };
      const error = event('error', { error: { type: 'overloaded_error' } });
      assert.deepEqual(await replies.metered(messages, MESSAGE_START, error), { kind: 'failure', ...inPart });
      assert.deepEqual(await replies.metered(messages, MESSAGE_START, event('ping'), cut), {
        kind: 'failure',
        ...inPart,
      });
      assert.deepEqual(await replies.metered(messages, MESSAGE_START, end), { kind: 'failure', ...inPart });
      assert.deepEqual(await replies.metered(messages, MESSAGE_START, leave), { kind: 'stopped', ...inPart });
      assert.deepEqual(await replies.metered(messages, MESSAGE_START, shutDown), {
        kind: 'stopped',
        ...inPart,
      });
      const cutUsage = USAGE.slice(0, -3);
      assert.deepEqual(await replies.metered(stream, text('a'), cutUsage, cut), {
        kind: 'delivered',
        ...ALL,
        streamedTokens: 1,
      });
    });

    it('counts in the error that ends it, and behind it', async () => {
      const failed = frame({ error: { message: 'no' }, usage: spent });
      assert.deepEqual(await replies.metered(stream, failed), { kind: 'failure', ...ALL });
      assert.deepEqual(await replies.metered(stream, frame({ error: { message: 'no' } }) + USAGE), {
        kind: 'failure',
        ...ALL,
      });
      assert.deepEqual(await replies.metered(stream, text('a'), failed, end), {
        kind: 'delivered',
        ...ALL,
        streamedTokens: 1,
      });
    });

    it('ends well with a last frame of 2 MiB, whose usage counts', async () => {
      const response = { instructions: 'y'.repeat(2 * MIB), usage: { input_tokens: 11, output_tokens: 7 } };
      const delta = event('response.output_text.delta', { delta: 'a' });
      const last = event('response.completed', { response });
      const chunks = last.match(/.{1,65536}|\n/g) ?? [];
      const result = await replies.play({ operation: 'responses', ...stream }, delta, ...chunks, end);
      assert.ok(result.kind === 'delivered' && result.delivery.state === 'completed');
      assert.deepEqual(result.metered, { sent: true, ...ALL, streamedTokens: 1 });
      assert.equal(await result.received, delta + last);
    });

    it('passes with a frame that is cut or garbled, and is a failure', async () => {
      const good = text('a');
      const broken = [
        good.slice(0, -8).concat('\n\n'),
        good.slice(0, -8).concat('\r\n\r\n'),
        frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }).replace('[{', '[{{'),
        `data: {"choices":[{"delta":{"content":"${'y'.repeat(400_000)}\n\n`,
      ];
      for (const each of broken)
        for (const frames of [
          [good, each, DONE],
          [each, good, DONE],
          [good, `${each}${good}${DONE}`],
        ]) {
          const { delivery, received } = await delivered(stream, ...frames, end);
          assert.deepEqual([delivery.state, delivery.cause], ['failed', 'upstream_invalid_response'], each);
          assert.equal(received, frames.join(''));
        }
      const zipped = { head: { headers: { ...STREAM_TYPE, 'content-encoding': 'gzip' } } };
      const { delivery } = await delivered(zipped, gzipSync(`${good}${broken[0]}${DONE}`), end);
      assert.equal(delivery.state, 'failed');
    });

    it('is no failure for data that is no object, for other lines, and for what the end cut', async () => {
      const finish = frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
      for (const frames of [
        [text('a'), 'data: hello\n\n', ': note {\n\n', 'data: [1\n\n', DONE],
        [text('a').replace('\n\n', '\nid: 7\nretry: 3\n\n'), text('b').replaceAll('\n', '\r\n'), DONE],
        [text('a'), finish, USAGE.slice(0, -9)],
      ]) {
        const { delivery } = await delivered(stream, ...frames, end);
        assert.equal(delivery.state, 'completed', frames.join(''));
      }
    });

    it('ends a large frame that is cut before the error frame', async () => {
      const large = `data: {"choices":[{"delta":{"content":"${'y'.repeat(400_000)}`;
      const result = await replies.play(stream, large, cut);
      assert.equal(result.metered.streamedTokens, 100_000);
      assert.equal(await result.received, `${large}\n\nerror frame`);
    });
  });

  describe('in a compressed stream', () => {
    const compressions = [
      ['gzip', (body: string) => gzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH }), gzipSync],
      ['deflate', (body: string) => deflateSync(body, { finishFlush: constants.Z_SYNC_FLUSH }), deflateSync],
      [
        'br',
        (body: string) => brotliCompressSync(body, { finishFlush: constants.BROTLI_OPERATION_FLUSH }),
        brotliCompressSync,
      ],
    ] as const;
    for (const [encoding, part, whole] of compressions) {
      const of = (type: object, status = 200) => ({
        head: { status, headers: { ...type, 'content-encoding': encoding } },
      });

      it(`is the text that passed when it breaks off or its client leaves: ${encoding}`, async () => {
        for (const stop of [cut, leave, shutDown, end])
          for (const wait of [turns, '']) {
            const result = await replies.metered(of(STREAM_TYPE), part(text('a').repeat(10)), wait, stop);
            assert.deepEqual(result, { kind: 'delivered', reported: null, inPart: null, streamedTokens: 10 });
          }
      });

      it(`is what was reported, also without the end of the encoding: ${encoding}`, async () => {
        const body = part(text('a') + USAGE + DONE);
        for (const stop of [cut, leave, end]) {
          const result = await replies.play(of(STREAM_TYPE), body, stop);
          assert.deepEqual(result.metered, { sent: true, ...ALL, streamedTokens: 1 });
          assert.ok(result.kind === 'delivered');
          if (stop === end) assert.equal(result.delivery.state, 'completed');
        }
        const messages = { operation: 'messages', ...of(STREAM_TYPE) } as const;
        const inPart = { reported: null, inPart: input, streamedTokens: 0 };
        assert.deepEqual(await replies.metered(messages, part(MESSAGE_START), leave), {
          kind: 'delivered',
          ...inPart,
        });
      });

      it(`is that of a whole answer without its last bytes, or of which a part is there: ${encoding}`, async () => {
        const body = whole(answer({ id: 'x' }));
        const result = await replies.metered(of(JSON_TYPE), body.subarray(0, -4), end);
        assert.equal(result.kind, 'failure');
        if (encoding === 'gzip') assert.deepEqual(result, { kind: 'failure', ...ALL });
        const cutAnswer = part(`{"usage":${JSON.stringify(spent)},"choices":[`);
        assert.deepEqual(await replies.metered(of(JSON_TYPE), cutAnswer, cut), { kind: 'failure', ...ALL });
        assert.deepEqual(await replies.metered(of(JSON_TYPE), cutAnswer, leave), { kind: 'stopped', ...ALL });
        assert.deepEqual(await replies.metered(of(JSON_TYPE), whole(answer()), end, leave), {
          kind: 'stopped',
          ...ALL,
        });
        const { reported: counted } = await replies.metered(of(JSON_TYPE), whole(answer()), end);
        assert.deepEqual(counted, reported);
      });
    }

    it('is the beginning of one that would have to be translated', async () => {
      const options = { request: {}, model: 'm', requestId: 'r', nowMs: 0, maker: 'm' };
      const over = { translator: new AnswerTranslator(chatToMessages, options) };
      const head = { headers: { ...STREAM_TYPE, 'content-encoding': 'gzip' } };
      const start = gzipSync(MESSAGE_START, { finishFlush: constants.Z_SYNC_FLUSH });
      assert.deepEqual(await replies.metered({ operation: 'messages', head, over }, start), {
        kind: 'failure',
        reported: null,
        inPart: input,
        streamedTokens: 0,
      });
    });

    it('is no text where it expands too much to be read to its end', async () => {
      const head = { headers: { ...STREAM_TYPE, 'content-encoding': 'gzip' } };
      const bomb = gzipSync(text('a') + text('a'.repeat(4 * MIB)) + USAGE + DONE);
      const result = await replies.play({ head }, bomb, end);
      assert.ok(result.kind === 'delivered' && result.delivery.state === 'completed');
      assert.deepEqual(result.metered, { sent: true, reported: null, inPart: null, streamedTokens: 0 });
    });

    it('counts of an answer that is too large to hold decoded', async () => {
      let state = 1;
      let noise = '';
      while (noise.length < MIB) {
        state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
        noise += state.toString(36);
      }
      const head = { headers: { ...JSON_TYPE, 'content-encoding': 'gzip' } };
      const body = gzipSync(JSON.stringify({ choices: [noise, 'a'.repeat(8 * MIB)], usage: spent }));
      assert.deepEqual(await replies.metered({ head }, body, end), { kind: 'answer', ...ALL });
    });
  });
});
