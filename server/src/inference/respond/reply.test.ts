import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { systemClock as clock } from '../../kit/clock.ts';
import { createFairSlices } from '../../kit/fair-slices.ts';
import { protocols } from '../../protocols/index.ts';
import { AnswerTranslator } from '../../protocols/translate/answer-translator.ts';
import { chatToMessages } from '../../protocols/translate/chat-to-messages/index.ts';
import type { UpstreamHead } from '../exchange.ts';
import {
  ALL,
  answer,
  cut,
  DONE,
  end,
  FLOW,
  input,
  JSON_TYPE,
  leave,
  MESSAGE_START,
  type Replies,
  reported,
  STREAM_TYPE,
  type Step,
  shutDown,
  spent,
  startReplies,
  stream,
  TIMED_OUT,
  text,
  USAGE,
} from './reply.fixture.ts';
import { Reply } from './reply.ts';
import type { ReplyDeps } from './reply-deps.ts';
import { frame } from './stream.fixture.ts';
import { translateWhole } from './translate-answer.ts';

const MIB = 1024 * 1024;

describe('what an attempt used', () => {
  let replies: Replies;

  before(async () => {
    replies = await startReplies();
  });
  after(() => replies.close());

  it('is not delayed by the meter where nothing has to be decoded', async () => {
    const { exchange } = await replies.ask();
    const onHead = () => undefined;
    const deps = {
      exchange,
      protocol: protocols.chat,
      clock,
      slices: createFairSlices(clock, 1_000),
      onHead,
    };
    for (const status of [200, 429]) {
      const reply = new Reply({ ...deps, translator: null, whole: false } as unknown as ReplyDeps);
      const order: string[] = [];
      reply.onHead({ status, headers: JSON_TYPE }, FLOW);
      reply.onData(Buffer.from(answer()));
      void reply.result.then(() => order.push('result'));
      reply.onEnd();
      void Promise.resolve().then(() => order.push('next'));
      await reply.result;
      await Promise.resolve();
      assert.deepEqual(order, ['result', 'next']);
    }
    exchange.response.destroy();
  });

  it('is nothing, and was not sent, before the request left', async () => {
    const { exchange } = await replies.ask();
    const reply = new Reply({ exchange, protocol: protocols.chat, clock } as unknown as ReplyDeps);
    reply.stop('client_gone');
    const { kind, metered } = await reply.result;
    assert.deepEqual(
      { kind, metered },
      {
        kind: 'stopped',
        metered: { sent: false, reported: null, inPart: null, streamedTokens: 0 },
      },
    );
    exchange.response.destroy();
  });

  describe('in a whole answer', () => {
    const failures: [string, readonly Step[]][] = [
      ['is followed by other bytes', [`${answer()}x`, end]],
      ['is followed by another', [answer() + answer(), end]],
      ['has a member that is no JSON', [`{"usage":${JSON.stringify(spent)},"choices":[{]}`, end]],
      ['is cut after the usage', [`{"usage":${JSON.stringify(spent)},"choices":[{"mess`, cut]],
      ['ends without its end', [`{"usage":${JSON.stringify(spent)},"id":"x"`, end]],
      ['is silent before its end', [answer(), (reply) => reply.onFailure(TIMED_OUT)]],
    ];
    for (const [what, steps] of failures)
      it(`counts although it ${what}`, async () => {
        assert.deepEqual(await replies.metered({}, ...steps), { kind: 'failure', ...ALL });
      });

    it('counts of a large one that is refused, wherever it is', async () => {
      const choices = [{ message: { content: 'y'.repeat(1_000_000) } }];
      const last = `${JSON.stringify({ choices, usage: spent })}x`;
      const expected = { kind: 'failure', ...ALL, streamedTokens: 250_000 };
      assert.deepEqual(await replies.metered({}, last, end), expected);
      assert.deepEqual(await replies.metered({}, last.slice(0, 500_000), last.slice(500_000), end), expected);
    });

    it('counts when the client leaves, or Relay stops, before it was sent', async () => {
      const part = answer().slice(0, -1);
      for (const stop of [leave, shutDown])
        assert.deepEqual(await replies.metered({}, part, stop), { kind: 'stopped', ...ALL });
      const large = JSON.stringify({
        choices: [{ message: { content: 'y"'.repeat(2 * MIB) } }],
        usage: spent,
      });
      const { kind, reported: counted } = await replies.metered({}, large, end, leave);
      assert.deepEqual({ kind, counted }, { kind: 'stopped', counted: reported });
    });

    it('is the part that was reported, where the output is missing', async () => {
      const usage = { prompt_tokens: 900 };
      const inPart = { reported: null, inPart: input, streamedTokens: 0 };
      assert.deepEqual(await replies.metered({}, answer({ usage }), end), { kind: 'answer', ...inPart });
      assert.deepEqual(await replies.metered({}, '{"usage":{"prompt_tokens":900,"comple', cut), {
        kind: 'failure',
        ...inPart,
      });
    });

    it('is that of a stream which says that it is JSON, or nothing', async () => {
      for (const headers of [JSON_TYPE, {}])
        for (const start of ['', ': keep-alive\n\n', 'event: x\n']) {
          const result = await replies.metered({ head: { headers } }, start, text('a') + USAGE, DONE, end);
          assert.deepEqual(result, { kind: 'failure', ...ALL, streamedTokens: 1 });
        }
    });

    it('is the beginning of a stream that was not requested', async () => {
      const settings = { operation: 'messages', ...stream, over: { whole: true } } as const;
      const expected = { kind: 'failure', reported: null, inPart: input, streamedTokens: 0 };
      assert.deepEqual(await replies.metered(settings, MESSAGE_START), expected);
      const nothing = { kind: 'failure', reported: null, inPart: null, streamedTokens: 0 };
      assert.deepEqual(await replies.metered(settings, end), nothing);
      assert.deepEqual(await replies.metered(settings, cut), nothing);
    });

    it('counts of an answer that is too large to check', async () => {
      const body = JSON.stringify({ usage: spent, choices: [{ message: { content: 'y'.repeat(9 * MIB) } }] });
      const result = await replies.metered({ over: { whole: true } }, body);
      assert.deepEqual(result, { kind: 'failure', ...ALL, streamedTokens: (9 * MIB) / 4 });
    });

    for (const [where, members] of [
      ['first', (content: string) => ({ usage: spent, choices: [{ message: { content } }] })],
      ['last', (content: string) => ({ choices: [{ message: { content } }], usage: spent })],
    ] as const)
      it(`counts of one above 8 MiB that is passed on, also where it is ${where}`, async () => {
        const body = Buffer.from(JSON.stringify(members('y'.repeat(9 * MIB))));
        const chunks = [
          body.subarray(0, 5 * MIB),
          body.subarray(5 * MIB, 8.5 * MIB),
          body.subarray(8.5 * MIB),
        ];
        const result = await replies.metered({}, ...chunks, end);
        assert.deepEqual(result, { kind: 'delivered', ...ALL, streamedTokens: (9 * MIB) / 4 });
      });

    it('is the text that passed of one above 8 MiB that breaks, or whose client leaves', async () => {
      const body = JSON.stringify({ choices: [{ message: { content: 'y'.repeat(9 * MIB) } }] }).slice(
        0,
        9 * MIB,
      );
      for (const stop of [cut, leave, shutDown]) {
        const { kind, streamedTokens } = await replies.metered({}, body, stop);
        assert.equal(kind, 'delivered');
        assert.ok(streamedTokens > 2.2 * MIB && streamedTokens <= 2.25 * MIB, String(streamedTokens));
      }
    });

    it('is kept when the answer cannot be translated', async () => {
      const usage = { input_tokens: 100, output_tokens: 7 };
      const body = JSON.stringify({
        type: 'message',
        content: [{ type: 'server_tool_use', id: 'x' }],
        usage,
      });
      const result = await replies.play({ operation: 'messages', over: { whole: true } }, body, end);
      const options = { request: {}, model: 'm', requestId: 'r', nowMs: 0, maker: 'm' };
      const asked = { streaming: false, secret: null };
      const translated = await translateWhole(result, new AnswerTranslator(chatToMessages, options), asked);
      assert.equal(translated.kind, 'failure');
      assert.equal(translated.metered.reported?.inputTokens, 100);
    });
  });

  describe('in an error', () => {
    const failed = (usage: unknown, more: object = {}) =>
      JSON.stringify({ error: { message: 'no' }, usage, ...more });
    const of = (status: number, headers: UpstreamHead['headers'] = JSON_TYPE) => ({
      head: { status, headers },
    });

    for (const status of [302, 400, 401, 402, 403, 407, 429, 500])
      it(`counts with ${status}`, async () => {
        assert.deepEqual(await replies.metered(of(status), failed(spent), end), { kind: 'answer', ...ALL });
      });

    it('counts above 16 KiB, first or last', async () => {
      const debug = 'y'.repeat(100_000);
      for (const status of [402, 500])
        assert.deepEqual(
          await replies.metered(of(status), `{"usage":${JSON.stringify(spent)},"debug":"${debug}"}`, end),
          {
            kind: 'answer',
            ...ALL,
          },
        );
      assert.deepEqual(await replies.metered(of(500), failed(null, { debug, usage: spent }), end), {
        kind: 'answer',
        ...ALL,
      });
    });

    it('counts of one that is too large, cut, or too slow', async () => {
      const body = `{"usage":${JSON.stringify(spent)},"debug":"`;
      assert.deepEqual(await replies.metered(of(500), body, 'y'.repeat(2 * MIB)), {
        kind: 'failure',
        ...ALL,
      });
      assert.deepEqual(await replies.metered(of(500), body, cut), { kind: 'failure', ...ALL });
      assert.deepEqual(await replies.metered(of(401), body, cut), { kind: 'answer', ...ALL });
      assert.deepEqual(await replies.metered(of(500), body), { kind: 'failure', ...ALL });
    });

    it('counts of one that is compressed, or an event stream', async () => {
      const headers = { ...JSON_TYPE, 'content-encoding': 'gzip' };
      assert.deepEqual(await replies.metered(of(500, headers), gzipSync(failed(spent)), end), {
        kind: 'answer',
        ...ALL,
      });
      const body = frame({ error: { message: 'no' }, usage: spent });
      assert.deepEqual(await replies.metered(of(500, STREAM_TYPE), body, end), { kind: 'answer', ...ALL });
      assert.deepEqual(await replies.metered(of(500, STREAM_TYPE), `event: error\n${body}`, end), {
        kind: 'answer',
        ...ALL,
      });
    });

    it('is nothing where it says nothing or zeros, whatever its text is', async () => {
      const nothing = { kind: 'answer', reported: null, inPart: null, streamedTokens: 0 };
      for (const usage of [null, { prompt_tokens: 0, completion_tokens: 0 }, { prompt_tokens: 0 }, 'no'])
        assert.deepEqual(
          await replies.metered(of(500), failed(usage, { text: 'y'.repeat(100) }), end),
          nothing,
        );
      for (const body of ['', '<html>', 'no', '[]', frame({ error: 'no' })])
        assert.deepEqual(await replies.metered(of(503), body, end), nothing);
    });
  });
});
