import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import { type Gateway, type Listening, startGateway, startListening } from './gateway.fixture.ts';

const USAGE = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
const MIB = 1024 * 1024;

/** Text that hardly compresses, so that its size is what counts. */
function noise(bytes: number): string {
  let state = 1;
  let text = '';
  while (text.length < bytes) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    text += state.toString(36);
  }
  return text;
}

const answerOf = (content: string) => JSON.stringify({ choices: [{ message: { content } }], usage: USAGE });
const streamOf = (content: string) =>
  `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\ndata: ${JSON.stringify({ choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`;

describe('compressed answers', () => {
  let upstream: Listening;
  let gateway: Gateway;
  let said: { readonly type: string; readonly encoding: string; readonly body: Buffer };

  before(async () => {
    upstream = await startListening();
    upstream.answer = (response) => {
      response.writeHead(200, { 'content-type': said.type, 'content-encoding': said.encoding });
      response.end(said.body);
    };
    gateway = await startGateway(
      snapshot({
        providers: [provider('p', { baseUrl: `${upstream.url}/v1`, authMode: 'none' })],
        endpoints: [endpoint('e', 'p', 'm', { pacing: false })],
        lanes: [lane('chat', { defaultMaxWaitMs: 0 })],
        memberships: [member('chat', 'e', 0)],
      }),
    );
  });
  beforeEach(() => {
    gateway.records.length = 0;
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  async function ask(stream = false) {
    const body = { model: 'chat', stream, max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] };
    const answered = await gateway.send(body).answered;
    const { usageSource, actualOutputTokens, state } = await gateway.nthRecord(1);
    return { status: answered?.status, usageSource, actualOutputTokens, state };
  }

  const reported = { status: 200, usageSource: 'reported', actualOutputTokens: 4, state: 'completed' };
  const estimated = { status: 200, usageSource: 'estimated', actualOutputTokens: 50, state: 'completed' };

  for (const [encoding, compress] of [
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const) {
    it(`of usual expansion are metered as reported: ${encoding}`, async () => {
      said = { type: 'application/json', encoding, body: compress(answerOf(noise(200_000))) };
      assert.deepEqual(await ask(), reported);
      said = { type: 'text/event-stream', encoding, body: compress(streamOf(noise(200_000))) };
      gateway.records.length = 0;
      assert.deepEqual(await ask(true), reported);
    });

    it(`that expand more than 20 times are relayed and metered by their estimate: ${encoding}`, async () => {
      said = { type: 'application/json', encoding, body: compress(answerOf('a'.repeat(4 * MIB))) };
      assert.deepEqual(await ask(), estimated);
      said = { type: 'text/event-stream', encoding, body: compress(streamOf('a'.repeat(4 * MIB))) };
      gateway.records.length = 0;
      assert.deepEqual(await ask(true), estimated);
    });
  }

  it('that expand to more than 8 MiB are relayed, and metered as reported', async () => {
    const content = `${noise(MIB)}${'a'.repeat(8 * MIB)}`;
    said = { type: 'application/json', encoding: 'gzip', body: gzipSync(answerOf(content)) };
    assert.ok(said.body.length * 20 > content.length);
    assert.deepEqual(await ask(), reported);
    said = { type: 'text/event-stream', encoding: 'gzip', body: gzipSync(streamOf(content)) };
    gateway.records.length = 0;
    assert.deepEqual(await ask(true), reported);
  });

  it('that are broken do not count as answers', async () => {
    said = { type: 'application/json', encoding: 'gzip', body: gzipSync(answerOf('x')).subarray(0, 30) };
    assert.equal((await ask()).status, 502);
  });

  it('that are streams without a byte do not count as answers, however they end', async () => {
    said = { type: 'text/event-stream', encoding: 'br', body: Buffer.alloc(0) };
    assert.equal((await ask(true)).status, 502);
    upstream.answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'br' });
      response.flushHeaders();
      response.socket?.end();
    };
    gateway.records.length = 0;
    assert.equal((await ask(true)).status, 502);
  });
});
