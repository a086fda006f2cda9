import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { headers as names } from '@relay/contract';
import { endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import { type Gateway, type Listening, startGateway, startListening } from './gateway.fixture.ts';
import { limit } from './guarded-site.fixture.ts';

const CHAT = { model: 'fast', messages: [{ role: 'user', content: 'question' }] };

describe('what a request is charged at its end', () => {
  let upstream: Listening;
  let gateway: Gateway;

  beforeEach(async () => {
    upstream = await startListening();
    gateway = await startGateway(
      snapshot({
        providers: [provider('p', { baseUrl: upstream.url, authMode: 'none' })],
        endpoints: [endpoint('a', 'p', 'm', { pacing: false })],
        lanes: [lane('fast', { defaultMaxWaitMs: 0 })],
        memberships: [member('fast', 'a', 1)],
        limitPolicies: [limit('tokens', 'tokens', 'minute', 1e9)],
      }),
    );
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  function answers(outputTokens: number): void {
    const usage = { prompt_tokens: 7, completion_tokens: outputTokens };
    upstream.answer = (response) =>
      void response.end(JSON.stringify({ choices: [{ message: { content: 'x' } }], usage }));
  }
  async function estimatedOutput(): Promise<number> {
    const answered = await gateway.send(CHAT).answered;
    return Number(answered?.headers[names.estimatedOutputTokens.toLowerCase()]);
  }

  async function until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
  }

  it('is what an error reports', async () => {
    const usage = { prompt_tokens: 7, completion_tokens: 900 };
    upstream.answer = (response) => void response.writeHead(500).end(JSON.stringify({ error: {}, usage }));
    assert.equal((await gateway.send({ ...CHAT, max_tokens: 900 }).answered)?.status, 500);
    const record = await gateway.nthRecord(1);
    assert.deepEqual([record.usageSource, record.actualOutputTokens], ['reported', 900]);
    assert.equal(await gateway.usage('tokens', 'tokens'), 907);
  });

  it('is nothing for an error that reports none', async () => {
    upstream.answer = (response) =>
      void response.writeHead(500).end('{"error":{},"usage":{"prompt_tokens":0}}');
    await gateway.send({ ...CHAT, max_tokens: 900 }).answered;
    assert.equal((await gateway.nthRecord(1)).usageSource, 'none');
    assert.equal(await gateway.usage('tokens', 'tokens'), 0);
  });

  it('is the whole estimate for a client that leaves an answer in one piece after it began', async () => {
    const began = new Promise<void>((resolve) => {
      upstream.answer = (response) => void response.writeHead(200).write('{"choices":', () => resolve());
    });
    const sent = gateway.send({ ...CHAT, max_tokens: 900 });
    await began;
    // The head has left the provider; the gateway reads it before the client's connection closes.
    await new Promise((resolve) => setTimeout(resolve, 200));
    sent.leave();
    const record = await gateway.nthRecord(1);
    assert.deepEqual([record.state, record.actualOutputTokens], ['cancelled', 900]);
  });

  it('is the input for a client that leaves after an attempt failed, while it waits for the next', async () => {
    await gateway.close();
    gateway = await startGateway(
      snapshot({
        providers: [provider('p', { baseUrl: upstream.url, authMode: 'none' })],
        endpoints: [
          endpoint('a', 'p', 'm', { pacing: false }),
          endpoint('b', 'p', 'm', { maxConcurrency: 1 }),
        ],
        lanes: [lane('fast', { defaultMaxWaitMs: 20_000 }), lane('other', { defaultMaxWaitMs: 0 })],
        memberships: [member('fast', 'a', 1), member('fast', 'b', 2), member('other', 'b', 1)],
        limitPolicies: [limit('tokens', 'tokens', 'minute', 1e9)],
      }),
    );
    upstream.answer = () => undefined;
    const busy = gateway.send({ ...CHAT, model: 'other' });
    await until(() => upstream.heard.length === 1);
    upstream.answer = (response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('{"choices":');
      setTimeout(() => response.destroy(), 50);
    };
    const sent = gateway.send({ ...CHAT, max_tokens: 900 });
    await until(() => gateway.desk.counts().waiting === 1);
    sent.leave();
    const record = await gateway.nthRecord(1);
    assert.deepEqual([record.state, record.actualOutputTokens], ['cancelled', 0]);
    assert.equal(record.attempts[0]?.use?.usage.inputTokens, record.actualInputTokens);
    busy.leave();
  });

  it('does not lower what is typical where the client set the limit', async () => {
    answers(1);
    const before = await estimatedOutput();
    for (let each = 0; each < 20; each += 1) await gateway.send({ ...CHAT, max_tokens: 1 }).answered;
    const after = await estimatedOutput();
    assert.ok(before - after <= 1, `${before} → ${after}`);
  });

  it('raises what is typical by what each choice had', async () => {
    answers(8_000);
    await gateway.send({ ...CHAT, n: 8 }).answered;
    await gateway.nthRecord(1);
    const next = await estimatedOutput();
    assert.ok(next > 500 && next < 1_000, String(next));
  });
});
