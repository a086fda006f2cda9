import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import { type Gateway, type Listening, startGateway, startListening } from './gateway.fixture.ts';
import { limit } from './guarded-site.fixture.ts';

const MOST = Number.MAX_SAFE_INTEGER;
const PRICE = {
  inputCostMicrosPer1mTokens: 1_000_000,
  outputCostMicrosPer1mTokens: 15_000_000,
  cachedInputCostMicrosPer1mTokens: 100_000,
  flatRequestCostMicros: 0,
};
const LIMITS = [limit('requests', 'requests', 'minute', 100), limit('tokens', 'tokens', 'minute', 1e12)];
const WINDOW = 1_000;
const CHAT = { model: 'fast', messages: [{ role: 'user', content: 'question' }], max_tokens: 50 };

describe('what a provider reports', () => {
  let upstream: Listening;
  let gateway: Gateway;
  let answers: ((response: ServerResponse) => void)[];

  beforeEach(async () => {
    upstream = await startListening();
    upstream.answer = (response) => answers.shift()?.(response);
    answers = [];
    gateway = await startGateway(organize(WINDOW));
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  function organize(contextWindow: number | null) {
    const names = ['a', 'b'];
    return snapshot({
      providers: names.map((id) =>
        provider(`p${id}`, { baseUrl: `${upstream.url}/${id}`, authMode: 'none' }),
      ),
      endpoints: names.map((id) => endpoint(id, `p${id}`, `m-${id}`, { pacing: false, contextWindow })),
      lanes: [lane('fast', { defaultMaxWaitMs: 0 })],
      memberships: names.map((id, index) => member('fast', id, index)),
      limitPolicies: LIMITS,
      pricing: new Map(names.map((id) => [id, PRICE])),
    });
  }

  const whole = (usage: unknown) => (response: ServerResponse) =>
    void response.end(JSON.stringify({ choices: [{ message: { content: 'x' } }], usage }));
  const streamed = (usage: unknown) => (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"choices":[{"delta":{"content":"x"}}]}\n\n');
    response.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
  };

  const cases: [string, unknown, [source: string, input: number, output: number, kept: boolean]][] = [
    ['a usual report', { prompt_tokens: 7, completion_tokens: 5 }, ['reported', 7, 5, false]],
    ['2^53 − 1 tokens', { prompt_tokens: MOST, completion_tokens: MOST }, ['reported', 525, 525, true]],
    ['a huge output', { prompt_tokens: 7, completion_tokens: 1e300 }, ['reported', 7, 1_043, true]],
    ['a huge input', { prompt_tokens: 1e18, completion_tokens: 5 }, ['reported', 1_045, 5, true]],
    ['a negative input', { prompt_tokens: -7, completion_tokens: 5 }, ['estimated', 6, 50, false]],
    ['a negative output', { prompt_tokens: 7, completion_tokens: -5 }, ['estimated', 6, 50, false]],
    ['fractions', { prompt_tokens: 7.5, completion_tokens: 5.5 }, ['estimated', 6, 50, false]],
    ['text', { prompt_tokens: '7', completion_tokens: '5' }, ['estimated', 6, 50, false]],
    ['nothing', undefined, ['estimated', 6, 50, false]],
    ['the input alone', { prompt_tokens: 9 }, ['estimated', 9, 50, false]],
  ];
  for (const [what, usage, [source, input, output, isKept]] of cases) {
    for (const [way, answer, body] of [
      ['a whole answer', whole, CHAT],
      ['a stream', streamed, { ...CHAT, stream: true }],
    ] as const) {
      it(`${what}, in ${way}, is charged and recorded within bounds`, async () => {
        answers = [answer(usage)];
        const answered = await gateway.send(body).answered;
        assert.equal(answered?.status, 200);
        const record = await gateway.nthRecord(1);
        // A stream without a report is charged by what it streamed.
        const expected = source === 'estimated' && way === 'a stream' ? 1 : output;
        assert.deepEqual(
          [record.usageSource, record.actualInputTokens, record.actualOutputTokens],
          [source === 'estimated' && way === 'a stream' ? 'streamed' : source, input, expected],
        );
        assert.equal(await gateway.usage('tokens', 'tokens'), input + expected);
        assert.equal(record.actualCostMicros, input + expected * 15);
        assert.equal(record.reportedUsage !== undefined, isKept);
        if (isKept)
          assert.ok(
            (record.reportedUsage?.inputTokens ?? 0) + (record.reportedUsage?.outputTokens ?? 0) > 1e15,
          );
      });
    }
  }

  it('is bounded by 10,000,000 tokens where the window is unknown', async () => {
    gateway.organization = organize(null);
    answers = [whole({ prompt_tokens: 7, completion_tokens: MOST })];
    await gateway.send(CHAT).answered;
    const { actualInputTokens, actualOutputTokens } = await gateway.nthRecord(1);
    assert.equal(actualInputTokens + actualOutputTokens, 10_000_000);
  });

  it('counts cached tokens toward token limits, at their own price', async () => {
    answers = [
      whole({ prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 80 } }),
    ];
    await gateway.send(CHAT).answered;
    const record = await gateway.nthRecord(1);
    assert.equal(await gateway.usage('tokens', 'tokens'), 105);
    assert.deepEqual([record.actualCachedInputTokens, record.actualCostMicros], [80, 20 + 8 + 75]);
  });

  it('of an attempt that answered with an error costs no tokens, and the request counts at both', async () => {
    answers = [
      (response) => void response.writeHead(500).end('{"error":{"message":"no"}}'),
      whole({ prompt_tokens: 7, completion_tokens: 5 }),
    ];
    assert.equal((await gateway.send(CHAT).answered)?.status, 200);
    await gateway.nthRecord(1);
    assert.equal(await gateway.usage('tokens', 'tokens'), 12);
    assert.equal(await gateway.usage('requests', 'requests'), 2);
  });

  it('is nothing when its only answer is an error, which no one pays for', async () => {
    answers = [(response) => void response.writeHead(400).end('{"error":{"message":"no"}}')];
    assert.equal((await gateway.send(CHAT).answered)?.status, 400);
    const record = await gateway.nthRecord(1);
    assert.deepEqual(
      [record.usageSource, record.actualInputTokens, record.actualOutputTokens, record.actualCostMicros],
      ['none', 0, 0, null],
    );
    assert.equal(await gateway.usage('tokens', 'tokens'), 0);
    assert.equal(await gateway.usage('requests', 'requests'), 1);
  });

  it('of a request that was never sent is nothing, and no limit counts it', async () => {
    // An address that egress does not connect to.
    const baseUrl = 'http://10.255.255.1/v1';
    gateway.organization = snapshot({
      providers: [provider('pa', { baseUrl, authMode: 'none' })],
      endpoints: [endpoint('a', 'pa', 'm-a', { pacing: false })],
      lanes: [lane('fast', { defaultMaxWaitMs: 0 })],
      memberships: [member('fast', 'a', 0)],
      limitPolicies: LIMITS,
      pricing: new Map([['a', PRICE]]),
    });
    assert.equal((await gateway.send(CHAT).answered)?.status, 502);
    const record = await gateway.nthRecord(1);
    assert.deepEqual([record.attempts[0]?.cause, record.usageSource], ['upstream_not_prepared', 'none']);
    assert.equal(await gateway.usage('requests', 'requests'), 0);
    assert.equal(await gateway.usage('tokens', 'tokens'), 0);
  });
});
