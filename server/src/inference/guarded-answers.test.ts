import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { CHAT, errorOf, type GuardedSite, LIMITS, SAID, startGuardedSite } from './guarded-site.fixture.ts';

let site: GuardedSite;

describe('an answer that a guardrail has to see', () => {
  beforeEach(async () => {
    site = await startGuardedSite();
  });
  afterEach(() => site.close());

  it('is shown whole, after the limits got what it really used and their unit back', async () => {
    site.gateway.organization = site.organize([site.after('g')], LIMITS);
    const held = site.holdJudge();
    const { answered } = site.gateway.send(CHAT);
    await held.asked;
    assert.deepEqual(site.judge.heard[0]?.body, { text: 'answer-canary', stage: 'post_response' });
    assert.equal(await site.gateway.usage('concurrency', 'concurrency'), 0);
    assert.equal(await site.gateway.usage('tokens', 'tokens'), 12);
    assert.deepEqual(site.gateway.desk.counts(), { waiting: 0, dispatched: 1 });
    held.say('flag');
    const answer = await answered;
    assert.equal(answer?.status, 200);
    assert.ok(answer?.text.includes('answer-canary'));
    const record = await site.gateway.nthRecord(1);
    assert.equal(record.guardrails?.[0]?.verdict, 'flagged');
    assert.equal(await site.gateway.usage('tokens', 'tokens'), 12);
    assert.equal(await site.gateway.usage('requests', 'requests'), 1);
  });

  it('is shown and settled only after the limits have answered', async () => {
    site.gateway.organization = site.organize([site.after('g')], LIMITS);
    const { promise, resolve } = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    site.gateway.beforeAnswer = ({ release }) => {
      if (release === undefined) return undefined;
      asked.resolve();
      return promise;
    };
    const { answered } = site.gateway.send(CHAT);
    await asked.promise;
    // A guardrail that were asked meanwhile would have answered long since.
    for (let turn = 0; turn < 50; turn += 1) await new Promise((next) => setTimeout(next, 1));
    assert.deepEqual([site.judge.heard.length, site.gateway.records.length], [0, 0]);
    resolve();
    assert.equal((await answered)?.status, 200);
    await site.gateway.nthRecord(1);
    assert.deepEqual(site.gateway.desk.counts(), { waiting: 0, dispatched: 0 });
  });

  it('blocked: 403 without a word of it, and its usage is metered all the same', async () => {
    site.gateway.organization = site.organize([site.after('g')], LIMITS);
    site.judge.answer = (response) => response.end('{"verdict":"block"}');
    const answer = await site.answerTo(CHAT);
    assert.deepEqual([answer.status, errorOf(answer)['stage']], [403, 'post_response']);
    assert.ok(!answer.text.includes('canary'));
    const record = await site.gateway.nthRecord(1);
    assert.deepEqual(
      [record.state, record.usageSource, record.actualOutputTokens],
      ['failed', 'reported', 5],
    );
    assert.equal(await site.gateway.usage('tokens', 'tokens'), 12);
  });

  it('blocked, of a provider that reports nothing: metered at its estimate', async () => {
    site.gateway.organization = site.organize([site.after('g')], LIMITS);
    site.upstream.answer = (response) => response.end(JSON.stringify(SAID));
    site.judge.answer = (response) => response.end('{"verdict":"block"}');
    assert.equal((await site.answerTo({ ...CHAT, max_tokens: 30 })).status, 403);
    const record = await site.gateway.nthRecord(1);
    assert.deepEqual([record.usageSource, record.actualOutputTokens], ['estimated', 30]);
  });

  it('replaced: the client gets the replacement and nothing of the answer', async () => {
    const rules = [{ path: '$', operator: 'exists', action: 'replace', replacement: 'withheld' }] as const;
    site.gateway.organization = site.organize([site.after('g', { rules }), site.after('h')]);
    const answer = await site.answerTo(CHAT);
    assert.equal(answer.status, 200);
    assert.ok(!answer.text.includes('canary'));
    assert.equal(answer.headers['content-length'], String(Buffer.byteLength(answer.text)));
    const [choice] = answer.json['choices'] as { message: { content: string } }[];
    assert.equal(choice?.message.content, 'withheld');
    assert.equal(site.judge.heard[1]?.body['text'], 'withheld');
    assert.equal(answer.headers['x-relay-actual-total-tokens'], '12');
  });

  it('replaced, of a provider that compresses: the replacement can be read', async () => {
    const rules = [{ path: '$', operator: 'exists', action: 'replace', replacement: 'withheld' }] as const;
    site.gateway.organization = site.organize([site.after('g', { rules })]);
    site.upstream.answer = (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync(JSON.stringify(SAID)));
    };
    const answer = await site.answerTo(CHAT);
    assert.deepEqual([answer.status, answer.headers['content-encoding']], [200, undefined]);
    assert.match(answer.text, /"withheld"/);
  });

  it('is refused when it has so many values that reading it would delay other requests', async () => {
    site.upstream.answer = (response) =>
      response.end(JSON.stringify({ ...SAID, more: Array.from({ length: 200_000 }, () => 1) }));
    site.gateway.organization = site.organize([site.after('g')]);
    assert.equal((await site.answerTo(CHAT)).status, 502);
    assert.equal(site.judge.heard.length, 0);
    site.gateway.organization = site.organize([]);
    assert.equal((await site.answerTo(CHAT)).status, 200);
  });

  it('is not asked about when the provider answered with an error', async () => {
    site.gateway.organization = site.organize([site.after('g')]);
    site.upstream.answer = (response) => void response.writeHead(400).end('{"error":{"message":"no"}}');
    assert.equal((await site.answerTo(CHAT)).status, 400);
    assert.equal(site.judge.heard.length, 0);
  });

  it('is not passed on as a stream that the client did not ask for', async () => {
    site.gateway.organization = site.organize([site.after('g')]);
    site.upstream.answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('data: {"choices":[{"delta":{"content":"answer-canary"}}]}\n\ndata: [DONE]\n\n');
    };
    const answer = await site.answerTo(CHAT);
    assert.equal(answer.status, 502);
    assert.ok(!answer.text.includes('canary'));
  });

  it('is metered in full when the client leaves while it is looked at', async () => {
    site.gateway.organization = site.organize([site.after('g')], LIMITS);
    const held = site.holdJudge();
    const sent = site.gateway.send(CHAT);
    await held.asked;
    sent.leave();
    const record = await site.gateway.nthRecord(1);
    held.say('allow');
    assert.deepEqual(
      [record.state, record.usageSource, record.actualOutputTokens],
      ['cancelled', 'reported', 5],
    );
  });
});
