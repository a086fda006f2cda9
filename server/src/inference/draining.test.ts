import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import { type Gateway, type Listening, startGateway, startListening } from './gateway.fixture.ts';

const FRAMES = 3;

describe('a process that drains', () => {
  let upstream: Listening;
  let gateway: Gateway;
  /** What the provider has been asked and not answered. */
  let asked: ServerResponse[];
  let aborted: number;

  beforeEach(async () => {
    asked = [];
    aborted = 0;
    upstream = await startListening();
    upstream.answer = (response) => {
      asked.push(response);
      response.once('close', () => (aborted += response.writableFinished ? 0 : 1));
    };
    gateway = await startGateway(
      snapshot({
        providers: [provider('p', { baseUrl: `${upstream.url}/v1`, authMode: 'none' })],
        endpoints: [endpoint('e', 'p', 'm', { maxConcurrency: 1 })],
        lanes: [lane('chat', { defaultMaxWaitMs: 20_000 })],
        memberships: [member('chat', 'e', 0)],
      }),
    );
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  const send = (over: object = {}) =>
    gateway.send({ model: 'chat', messages: [{ role: 'user', content: 'hi' }], ...over });

  async function until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise((resolve) => setImmediate(resolve));
  }

  function codeOf(text: string): unknown {
    return (JSON.parse(text) as { error: { code: string } }).error.code;
  }

  it('refuses new requests, and serves those that wait for capacity', async () => {
    const first = send();
    await until(() => asked.length === 1);
    const waits = send();
    await until(() => gateway.desk.counts().waiting === 1);
    gateway.draining = true;
    const late = await send().answered;
    assert.deepEqual([late?.status, codeOf(late?.text ?? '')], [503, 'draining']);
    asked[0]?.end('{"choices":[]}');
    assert.equal((await first.answered)?.status, 200);
    await until(() => asked.length === 2);
    asked[1]?.end('{"choices":[]}');
    assert.equal((await waits.answered)?.status, 200);
  });

  it('answers those that wait, and those without an answer, when its time is up', async () => {
    const first = send();
    await until(() => asked.length === 1);
    const waits = send();
    await until(() => gateway.desk.counts().waiting === 1);
    gateway.cutOff();
    for (const { answered } of [first, waits]) {
      const answer = await answered;
      assert.deepEqual([answer?.status, codeOf(answer?.text ?? '')], [503, 'draining']);
      assert.equal(answer?.headers['retry-after'], '1');
    }
    await until(() => gateway.records.length === 2 && aborted === 1);
    const found = gateway.records.map((record) => ({
      ended: [record.state, record.status, record.cause],
      attempts: record.attempts.map(({ outcome, cause }) => [outcome, cause]),
      usage: [record.usageSource, (record.actualInputTokens ?? 0) > 0, record.actualOutputTokens],
    }));
    const ended = ['failed', 503, 'draining'];
    assert.deepEqual(
      found.sort((one, other) => other.attempts.length - one.attempts.length),
      [
        // The provider may have billed the input.
        { ended, attempts: [['cancelled', 'draining']], usage: ['estimated', true, 0] },
        { ended, attempts: [], usage: ['none', false, 0] },
      ],
    );
    assert.deepEqual(gateway.desk.counts(), { waiting: 0, dispatched: 0 });
    assert.equal(await gateway.usage('endpoint:e:max_concurrency', 'concurrency'), 0);
  });

  it('ends a stream with an error frame when its time is up, and meters what was streamed', async () => {
    const streams = send({ stream: true });
    await until(() => asked.length === 1);
    asked[0]?.writeHead(200, { 'content-type': 'text/event-stream' });
    const frame = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
    for (let index = 0; index < FRAMES; index += 1) asked[0]?.write(frame('word'));
    await until(() => streams.heard().split('word').length > FRAMES);
    // An incomplete frame is dropped.
    asked[0]?.write('data: {"choi');
    gateway.cutOff();
    const { text = '' } = (await streams.answered) ?? {};
    const frames = text.split('\n\n').filter((each) => each !== '');
    const last = frames.at(-1) ?? '';
    assert.equal(codeOf(last.slice('data: '.length)), 'draining');
    assert.ok(!text.includes('[DONE]'));
    await until(() => gateway.records.length === 1 && aborted === 1);
    const [record] = gateway.records;
    assert.deepEqual([record?.state, record?.status, record?.cause], ['failed', 200, 'draining']);
    assert.deepEqual([record?.usageSource, record?.actualOutputTokens], ['streamed', FRAMES]);
    assert.ok((record?.actualInputTokens ?? 0) > 0);
  });

  it('completes a stream that has told its end', async () => {
    const streams = send({ stream: true });
    await until(() => asked.length === 1);
    asked[0]?.writeHead(200, { 'content-type': 'text/event-stream' });
    asked[0]?.write('data: {"choices":[{"delta":{"content":"word"}}]}\n\ndata: [DONE]\n\n');
    await until(() => streams.heard().includes('[DONE]'));
    gateway.cutOff();
    assert.equal((await streams.answered)?.status, 200);
    const record = await gateway.nthRecord(1);
    assert.deepEqual([record.state, record.cause], ['completed', null]);
  });
});
