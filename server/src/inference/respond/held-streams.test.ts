import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AnswerTranslator } from '../../protocols/translate/answer-translator.ts';
import { chatToMessages } from '../../protocols/translate/chat-to-messages/index.ts';
import {
  cut,
  DONE,
  end,
  JSON_TYPE,
  leave,
  MESSAGE_START,
  type Replies,
  type Step,
  shutDown,
  startReplies,
  stream,
  TIMED_OUT,
  text,
} from './reply.fixture.ts';
import type { ReplyDeps } from './reply-deps.ts';
import { event, FINISH, ROLE } from './stream.fixture.ts';
import { translateWhole } from './translate-answer.ts';

const pausedFor =
  (ms: number): Step =>
  () =>
    new Promise((resolve) => setTimeout(resolve, ms));
const messages = { operation: 'messages', ...stream } as const;
const options = { request: { stream: true }, model: 'm', requestId: 'r', nowMs: 0, maker: 'm' };
/** Longer than a test. */
const HELD: Partial<ReplyDeps> = { holdMs: 60_000 };

describe('a stream without content', () => {
  let replies: Replies;

  before(async () => {
    replies = await startReplies();
  });
  after(() => replies.close());

  const timesOf = (delivery: { readonly firstByteMs: number; readonly firstContentMs: number | null }) =>
    (delivery.firstContentMs ?? Number.NaN) - delivery.firstByteMs;

  it('is sent at the end of its hold, and its time to the first content is that of its content', async () => {
    for (const holdMs of [0, 120]) {
      const result = await replies.play(
        { ...stream, over: { holdMs } },
        ROLE,
        pausedFor(200),
        text('a'),
        DONE,
        end,
      );
      assert.ok(result.kind === 'delivered' && result.delivery.state === 'completed');
      const apartMs = timesOf(result.delivery);
      assert.ok(apartMs >= 200 - Math.max(holdMs, 50) - 30, `${apartMs} ms after the head`);
      assert.equal(await result.received, ROLE + text('a') + DONE);
    }
  });

  it('is sent with its first content if that comes earlier', async () => {
    const result = await replies.play({ ...stream, over: HELD }, ROLE, text('a'), DONE, end);
    assert.ok(result.kind === 'delivered');
    assert.ok(timesOf(result.delivery) < 20);
  });

  for (const [name, settings, first, keepAlive] of [
    ['a ping', messages, MESSAGE_START, event('ping')],
    ['a comment', stream, ROLE, ': PROCESSING\n\n'],
  ] as const) {
    it(`is held over ${name} that comes with its first frames`, async () => {
      const result = await replies.play({ ...settings, over: HELD }, first, keepAlive, pausedFor(300), cut);
      assert.equal(result.kind, 'failure');
    });

    it(`is sent at ${name} after a silence, and ends with an error frame if it fails then`, async () => {
      const failures: readonly Step[] = [cut, end, shutDown, (reply) => reply.onFailure(TIMED_OUT)];
      for (const fail of failures) {
        const result = await replies.play(
          { ...settings, over: HELD },
          first,
          pausedFor(300),
          keepAlive,
          fail,
        );
        assert.ok(result.kind === 'delivered' && result.delivery.state === 'failed');
        assert.equal(result.delivery.firstContentMs, null);
        assert.equal(await result.received, `${first}${keepAlive}error frame`);
      }
    });
  }

  it('that was sent is cancelled when its client leaves', async () => {
    const result = await replies.play({ ...stream, over: { holdMs: 0 } }, ROLE, pausedFor(120), leave);
    assert.ok(result.kind === 'delivered' && result.delivery.state === 'cancelled');
    assert.equal(result.delivery.firstContentMs, null);
  });

  it('is held to its end for a client that asked for no stream', async () => {
    const result = await replies.play({ ...stream, over: { holdMs: null } }, ROLE, pausedFor(120), cut);
    assert.equal(result.kind, 'failure');
  });

  it('says which frames the client has before the error', async () => {
    const seen: string[] = [];
    const errorFrame = (_error: Error, before: string) => `${seen.push(before)}`;
    await replies.play(
      { ...stream, over: { errorFrame } },
      `${ROLE}: hm\n\n`,
      text('a'),
      pausedFor(20),
      text('b'),
      pausedFor(20),
      ': hm\n\n',
      cut,
    );
    const translator = new AnswerTranslator(chatToMessages, options);
    const delta = { index: 0, delta: { type: 'text_delta', text: 'a' } };
    const block = { index: 0, content_block: { type: 'text', text: '' } };
    const frames = [
      event('message_start', { message: { id: 'x' } }),
      event('ping'),
      event('content_block_start', block),
      event('content_block_delta', delta),
    ];
    await replies.play({ ...messages, over: { errorFrame, translator } }, ...frames, cut);
    assert.equal(seen[0], text('b'));
    assert.match(seen[1] ?? '', /^data: .*"content":"a".*\n\n$/);
  });

  it('is complete after its finish reason, if it ends and does not break', async () => {
    const whole = await replies.play(stream, text('a') + FINISH, end);
    assert.ok(whole.kind === 'delivered' && whole.delivery.state === 'completed');
    assert.equal(await whole.received, text('a') + FINISH);
    const broken = await replies.play(stream, text('a') + FINISH, cut);
    assert.ok(broken.kind === 'delivered' && broken.delivery.state === 'failed');
    assert.equal(await broken.received, `${text('a')}${FINISH}error frame`);
  });

  it('is made of a whole answer that has to be translated', async () => {
    const content = [{ type: 'text', text: 'Hello' }];
    const body = JSON.stringify({ id: 'x', type: 'message', content, stop_reason: 'end_turn' });
    const result = await replies.play({ operation: 'messages', head: { headers: JSON_TYPE } }, body, end);
    const translator = new AnswerTranslator(chatToMessages, options);
    const translated = await translateWhole(result, translator, { streaming: true, secret: null });
    assert.ok(translated.kind === 'answer');
    const said = translated.answer.body.toString();
    assert.match(said, /"content":"Hello".*"finish_reason":"stop".*data: \[DONE\]\n\n$/s);
    assert.match(String(translated.answer.headers['content-type']), /^text\/event-stream/);
  });
});
