import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import {
  BLOCK,
  CHAT,
  CHAT_STREAM,
  COMPLETION,
  delta,
  event,
  KEY,
  MESSAGE,
  MESSAGES,
  MESSAGES_STREAM,
  type Says,
  START,
  startTranslatedSite,
  stream,
  type TranslatedSite,
  whole,
} from './translated-site.fixture.ts';

describe('a request for a provider that speaks another protocol', () => {
  let site: TranslatedSite;
  const asked = () => site.upstream.heard.map(({ path }) => path).join(' ');
  const dataOf = (text = '') =>
    text
      .split('\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)));

  beforeEach(async () => {
    site = await startTranslatedSite();
  });
  afterEach(() => site.close());

  it('is asked in its words, and its answer is a chat completion', async () => {
    site.says = { anthropic: [whole(200, MESSAGE)] };
    const answer = await site.sendChat({ model: 'only-anthropic', user: 'u-1' });
    assert.equal(answer?.status, 200);
    const said = JSON.parse(answer?.text ?? '');
    assert.equal(said.choices[0].message.content, 'Schön 👋');
    assert.equal(said.object, 'chat.completion');
    const [heard] = site.upstream.heard;
    assert.equal(heard?.path, '/anthropic/messages');
    assert.deepEqual(heard?.body, {
      model: 'm-anthropic',
      max_tokens: 50,
      messages: CHAT.messages,
    });
    assert.equal(heard?.headers['anthropic-version'], '2023-06-01');
    assert.deepEqual(
      [answer?.headers['x-relay-translated-to'], answer?.headers['x-relay-left-out']],
      ['messages', 'user'],
    );
    const record = await site.gateway.nthRecord(1);
    assert.deepEqual(record.attempts[0]?.translated, { to: 'messages', leftOut: ['user'] });
    assert.deepEqual(
      [record.operation, record.usageSource, record.actualInputTokens, record.actualOutputTokens],
      ['chat', 'reported', 13, 5],
    );
  });

  it('is asked in its words, and its answer is a message', async () => {
    site.says = { openai: [whole(200, COMPLETION)] };
    const answer = await site.sendMessages({ model: 'only-openai' });
    const said = JSON.parse(answer?.text ?? '');
    assert.deepEqual(
      [said.type, said.content],
      ['message', [{ type: 'text', text: 'Schön 👋', citations: null }]],
    );
    assert.equal(site.upstream.heard[0]?.path, '/openai/chat/completions');
    assert.equal(answer?.headers['x-relay-left-out'], 'system.cache_control');
    const record = await site.gateway.nthRecord(1);
    assert.deepEqual([record.operation, record.actualOutputTokens], ['messages', 5]);
  });

  it('names the thinking of an earlier translation that a provider of Messages does not get', async () => {
    site.says = { anthropic: [whole(200, MESSAGE)] };
    const unsigned = { type: 'thinking', thinking: 'x', signature: 'relay-unsigned' };
    const assistant = { role: 'assistant', content: [unsigned, { type: 'text', text: 'y' }] };
    const answer = await site.sendMessages({
      messages: [...MESSAGES.messages, assistant, ...MESSAGES.messages],
    });
    assert.doesNotMatch(site.upstream.heard[0]?.text ?? 'relay', /relay/);
    assert.deepEqual(
      [answer?.headers['x-relay-translated-to'], answer?.headers['x-relay-left-out']],
      [undefined, 'messages.content'],
    );
    const record = await site.gateway.nthRecord(1);
    assert.deepEqual(record.attempts[0]?.translated, { to: null, leftOut: ['messages.content'] });
  });

  it('streams from Messages to a chat client, with characters and frames cut anywhere', async () => {
    site.says = { anthropic: [stream(MESSAGES_STREAM)] };
    const answer = await site.sendChat({ model: 'only-anthropic', stream: true });
    const text = dataOf(answer?.text).map(({ choices }) => choices[0]?.delta.content ?? '');
    assert.equal(text.join(''), 'Schön 👋');
    assert.ok(answer?.text.endsWith('data: [DONE]\n\n'), answer?.text);
    const record = await site.gateway.nthRecord(1);
    assert.deepEqual(
      [record.state, record.usageSource, record.actualInputTokens, record.actualOutputTokens],
      ['completed', 'reported', 10, 5],
    );
  });

  it('streams from chat to a client of Messages, and asks for usage', async () => {
    site.says = { openai: [stream(CHAT_STREAM)] };
    const answer = await site.sendMessages({ model: 'only-openai', stream: true });
    const types = dataOf(answer?.text).map(({ type }) => type);
    assert.deepEqual([types[0], types.at(-1)], ['message_start', 'message_stop']);
    assert.deepEqual(site.upstream.heard[0]?.body['stream_options'], { include_usage: true });
    const record = await site.gateway.nthRecord(1);
    assert.deepEqual([record.state, record.actualOutputTokens], ['completed', 5]);
  });

  it('falls back from one protocol to the other before content', async () => {
    const starts: [Says, boolean][] = [
      [whole(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }), false],
      [stream([START, BLOCK], 'destroy'), true],
      [stream([START, event('error', { error: { type: 'api_error', message: 'x' } })]), true],
    ];
    for (const [first, isStream] of starts) {
      site.upstream.heard.length = 0;
      site.says = { anthropic: [first], openai: [isStream ? stream(CHAT_STREAM) : whole(200, COMPLETION)] };
      const answer = await site.sendMessages(isStream ? { stream: true } : {});
      assert.equal(answer?.status, 200);
      assert.equal(asked(), '/anthropic/messages /openai/chat/completions');
      assert.match(answer?.text ?? '', /Schö/);
    }
  });

  it('gets an error of the provider in its own shape, with the status', async () => {
    const error = {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'max_tokens: too high' },
    };
    site.says = { anthropic: [whole(400, error)] };
    const answer = await site.sendChat({ model: 'only-anthropic' });
    assert.equal(answer?.status, 400);
    assert.equal(JSON.parse(answer?.text ?? '').error.message, 'max_tokens: too high');
    assert.equal(answer?.headers['x-relay-error-source'], 'upstream');
  });

  it('gets the end of an interrupted stream in its own shape', async () => {
    site.says = { anthropic: [stream([START, BLOCK, delta('Schö')], 'destroy')] };
    const answer = await site.sendChat({ model: 'only-anthropic', stream: true });
    assert.equal(dataOf(answer?.text).at(-1).error.code, 'stream_interrupted');
    assert.ok(!answer?.text.includes('[DONE]'));
    assert.equal((await site.gateway.nthRecord(1)).state, 'failed');
  });

  it('fails instead of leaving out what the client cannot be told', async () => {
    const strange = event('content_block_start', { index: 1, content_block: { type: 'made_up_tool' } });
    site.says = { anthropic: [stream([START, BLOCK, delta('Schö'), strange, delta('n')])] };
    const answer = await site.sendChat({ model: 'only-anthropic', stream: true });
    assert.match(JSON.stringify(dataOf(answer?.text).at(-1)), /made_up_tool/);
    const record = await site.gateway.nthRecord(1);
    assert.deepEqual([record.state, record.cause], ['failed', 'upstream_invalid_response']);
  });

  const paused = event('message_delta', {
    delta: { stop_reason: 'pause_turn' },
    usage: { output_tokens: 5 },
  });
  const cut = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":' } };

  it('fails where only the writer finds that its protocol cannot express the end of a stream', async () => {
    const last = event('message_stop');
    // With the blank line the frame is read when it arrives, without it at the end of the stream.
    for (const [count, end] of [last, last.trimEnd()].entries()) {
      site.says = { anthropic: [stream([START, BLOCK, delta('Schö'), paused, end])] };
      const answer = await site.sendChat({ model: 'only-anthropic', stream: true });
      const message = 'The provider paused the response, which a chat completion cannot express.';
      assert.equal(dataOf(answer?.text).at(-1).error.message, message);
      assert.ok(!answer?.text.includes('[DONE]'));
      const { state, cause, attempts, actualOutputTokens } = await site.gateway.nthRecord(count + 1);
      assert.deepEqual([state, cause, actualOutputTokens], ['failed', 'upstream_invalid_response', 5]);
      assert.deepEqual(
        attempts.map((each) => [each.outcome, each.cause]),
        [['failed', 'upstream_invalid_response']],
      );
    }
  });

  it('falls back where only the writer finds that a whole answer cannot be expressed', async () => {
    const broken = { role: 'assistant', content: null, tool_calls: [cut] };
    const choices = [{ index: 0, message: broken, finish_reason: 'tool_calls', logprobs: null }];
    site.says = { openai: [whole(200, { ...COMPLETION, choices })], anthropic: [whole(200, MESSAGE)] };
    const answer = await site.sendMessages({ model: 'chat-first' });
    assert.deepEqual([answer?.status, JSON.parse(answer?.text ?? '').content], [200, MESSAGE.content]);
    const { attempts } = await site.gateway.nthRecord(1);
    assert.deepEqual(
      attempts.map(({ outcome, cause }) => [outcome, cause]),
      [
        ['failed', 'upstream_invalid_response'],
        ['completed', null],
      ],
    );
  });

  it('is told why a whole answer cannot be expressed, without the credential', async () => {
    const message = { role: 'assistant', content: [{ type: `song_${KEY}` }] };
    const choices = [{ index: 0, message, finish_reason: 'stop', logprobs: null }];
    site.says = { openai: [whole(200, { ...COMPLETION, choices })] };
    const answer = await site.sendMessages({ model: 'only-openai' });
    assert.equal(answer?.status, 502);
    assert.match(
      JSON.parse(answer?.text ?? '').error.message,
      /invalid response: it has content of the type song_.*, which cannot be translated\. Check [^.]+\.$/,
    );
    assert.ok(!answer?.text.includes(KEY));
  });

  it('gets the error that a provider reports in a 200 as an error, in its own shape', async () => {
    for (const [code, status] of [
      [429, 429],
      ['server_error', 502],
    ] as const) {
      const error = { message: `Wrong key ${KEY}`, code };
      site.says = { openai: [whole(200, { error })] };
      const answer = await site.sendMessages({ model: 'only-openai' });
      assert.equal(answer?.status, status);
      assert.equal(answer?.headers['x-relay-error-source'], 'upstream');
      const said = JSON.parse(answer?.text ?? '');
      assert.deepEqual([said.type, said.request_id], ['error', answer?.headers['x-request-id']]);
      assert.match(said.error.message, /^Wrong key/);
      assert.ok(!answer?.text.includes(KEY));
    }
  });

  it('is told what an answer had beside its content, in the head or in the request’s details', async () => {
    const message = {
      role: 'assistant',
      content: 'Hi',
      annotations: [{}],
      provider_specific_fields: { a: 1 },
    };
    const leftOut = ['response.message.annotations', 'response.message.provider_specific_fields'];
    site.says = {
      openai: [whole(200, { ...COMPLETION, choices: [{ index: 0, message, finish_reason: 'stop' }] })],
    };
    const answer = await site.sendMessages({ model: 'only-openai' });
    assert.equal(answer?.headers['x-relay-left-out'], `system.cache_control, ${leftOut.join(', ')}`);
    const delta = { ...message, tool_calls: [] };
    const chunk = (choice: object) => `data: ${JSON.stringify({ id: 'x', choices: [choice] })}\n\n`;
    site.says = {
      openai: [
        stream([
          chunk({ index: 0, delta }),
          chunk({ index: 0, delta: {}, finish_reason: 'stop' }),
          'data: [DONE]\n\n',
        ]),
      ],
    };
    const streamed = await site.sendMessages({ model: 'only-openai', stream: true });
    assert.match(streamed?.text ?? '', /message_stop/);
    const record = await site.gateway.nthRecord(2);
    assert.deepEqual(record.attempts[0]?.translated?.leftOut, ['system.cache_control', ...leftOut]);
  });
});
