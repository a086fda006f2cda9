import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import type { Endpoint, LimitPolicy, Provider } from '../domain/snapshot.ts';
import { type Gateway, type Heard, type Listening, startGateway, startListening } from './gateway.fixture.ts';
import { limit } from './guarded-site.fixture.ts';

const PRICE = {
  inputCostMicrosPer1mTokens: 1_000_000,
  outputCostMicrosPer1mTokens: 10_000_000,
  cachedInputCostMicrosPer1mTokens: null,
  flatRequestCostMicros: 0,
};
const USER = [{ role: 'user', content: 'question' }];
const CHAT = { model: 'fast', messages: USER };
const RESPONSES = { model: 'fast', input: 'question' };
const MESSAGES = { model: 'fast', messages: USER };
const VERSION = { 'anthropic-version': '2023-06-01' };
const CAP = 'x-relay-output-cap';
const SPEND = { ...limit('spend', 'spend', 'day', 1_000_000), enforcement: 'hard' } as const;
const TOKENS = { ...limit('tokens', 'tokens', 'day', 100_000), enforcement: 'hard' } as const;

const completion = (output = 5, input = 7) => ({
  choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: input, completion_tokens: output },
});
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [{ type: 'text', text: 'x' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 7, output_tokens: 5 },
};
const RESPONSE = { object: 'response', output: [], usage: { input_tokens: 7, output_tokens: 5 } };

interface Site {
  readonly policies?: readonly LimitPolicy[];
  readonly endpoints?: readonly Partial<Endpoint>[];
  readonly provider?: Partial<Provider>;
  readonly waitMs?: number;
}

describe('under a hard limit', () => {
  let upstream: Listening;
  let gateway: Gateway;

  beforeEach(async () => {
    upstream = await startListening();
    upstream.answer = (response, { path }) =>
      response.end(
        JSON.stringify(
          path.endsWith('/messages') ? MESSAGE : path.endsWith('/responses') ? RESPONSE : completion(),
        ),
      );
    gateway = await startGateway(organize({}));
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  function organize({ policies = [SPEND], endpoints = [{}], provider: over = {}, waitMs = 0 }: Site) {
    const names = endpoints.map((_, index) => `e${index}`);
    return snapshot({
      providers: names.map((id) =>
        provider(`p${id}`, { baseUrl: `${upstream.url}/${id}`, authMode: 'none', ...over }),
      ),
      endpoints: endpoints.map((given, index) =>
        endpoint(`e${index}`, `pe${index}`, `m-${index}`, { pacing: false, routeKind: 'multi', ...given }),
      ),
      lanes: [lane('fast', { defaultMaxWaitMs: waitMs })],
      memberships: names.map((id, index) => member('fast', id, index)),
      limitPolicies: [...policies],
      pricing: new Map(names.map((id) => [id, PRICE])),
    });
  }

  async function send(body: object, path?: string, headers = {}) {
    const answered = await gateway.send(body, path, headers).answered;
    assert.ok(answered);
    return answered;
  }
  const heard = (): Heard['body'] => upstream.heard.at(-1)?.body ?? {};
  /** What was reserved of the limit, in the last ask. */
  const reserved = (policyId = 'spend') =>
    gateway.asked.at(-1)?.candidates[0]?.charges.find(({ policy }) => policy.id === policyId)?.cost ?? 0;

  describe('a request without an output cap gets one, and the response says it', () => {
    const cases: [string, object, string, string, Partial<Endpoint>][] = [
      ['chat', CHAT, '/v1/chat/completions', 'max_completion_tokens', {}],
      ['responses', RESPONSES, '/v1/responses', 'max_output_tokens', {}],
      ['messages', MESSAGES, '/v1/messages', 'max_tokens', { protocol: 'anthropic' }],
      ['chat as messages', CHAT, '/v1/chat/completions', 'max_tokens', { protocol: 'anthropic' }],
      ['messages as chat', MESSAGES, '/v1/messages', 'max_completion_tokens', { routeKind: 'chat' }],
      ['responses as messages', RESPONSES, '/v1/responses', 'max_tokens', { protocol: 'anthropic' }],
      ['responses as chat', RESPONSES, '/v1/responses', 'max_completion_tokens', { routeKind: 'chat' }],
    ];
    for (const [what, body, path, field, over] of cases)
      it(what, async () => {
        gateway.organization = organize({ endpoints: [over] });
        const { status, headers, text } = await send(body, path, VERSION);
        assert.equal(status, 200, text);
        assert.equal(heard()[field], 4_096);
        assert.equal(headers[CAP], '4096');
        assert.ok(reserved() >= 40_960, 'the cap at the price of output is reserved');
      });

    it('in the name that the provider has for it, once, where the client sent null', async () => {
      gateway.organization = organize({ provider: { presetSlug: 'mistral' } });
      await send({ ...CHAT, max_tokens: null });
      assert.equal(upstream.heard[0]?.text.match(/max_tokens|max_completion_tokens/g)?.length, 1);
      assert.equal(heard()['max_tokens'], 4_096);
    });

    it('in a stream', async () => {
      upstream.answer = (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n');
        response.end(
          `data: {"choices":[],"usage":${JSON.stringify(completion().usage)}}\n\ndata: [DONE]\n\n`,
        );
      };
      const { headers } = await send({ ...CHAT, stream: true });
      assert.equal(heard()['max_completion_tokens'], 4_096);
      assert.deepEqual(heard()['stream_options'], { include_usage: true });
      assert.equal(headers[CAP], '4096');
    });

    it('at the candidate that it falls back to, in that one’s words', async () => {
      gateway.organization = organize({ endpoints: [{}, { protocol: 'anthropic', contextWindow: 3_000 }] });
      upstream.answer = (response, { path }) => {
        if (path.endsWith('/messages')) response.end(JSON.stringify(MESSAGE));
        else response.writeHead(500).end('{}');
      };
      const { status, headers } = await send(CHAT);
      assert.equal(status, 200);
      assert.equal(upstream.heard[0]?.body['max_completion_tokens'], 4_096);
      assert.ok(Number(heard()['max_tokens']) < 3_000);
      assert.equal(headers[CAP], String(heard()['max_tokens']));
    });
  });

  it('the client’s own cap stays as it is, for each choice', async () => {
    const { headers } = await send({ ...CHAT, max_tokens: 50, n: 3 });
    assert.deepEqual([heard()['max_tokens'], heard()['max_completion_tokens']], [50, undefined]);
    assert.equal(headers[CAP], undefined);
    assert.ok(reserved() >= 1_500 && reserved() < 2_500, String(reserved()));
  });

  it('embeddings reserve their input', async () => {
    const { status, headers } = await send(RESPONSES, '/v1/embeddings');
    assert.equal(status, 200);
    assert.equal(headers[CAP], undefined);
    assert.ok(reserved() > 0 && reserved() < 2_000, String(reserved()));
  });

  it('other limits keep the estimate', async () => {
    gateway.organization = organize({ policies: [SPEND, limit('soft', 'tokens', 'day', 100_000)] });
    await send({ ...CHAT, max_tokens: 50 });
    assert.ok(reserved('soft') < 100, String(reserved('soft')));
    assert.ok(reserved() > 600, String(reserved()));
  });

  it('the cap shrinks to what is left, never below what is typical, and what is sent is what was reserved', async () => {
    gateway.organization = organize({ policies: [{ ...TOKENS, limitValue: 8_000 }] });
    upstream.answer = (response) => response.end(JSON.stringify(completion(3_000, 10)));
    const caps: number[] = [];
    let refused = 0;
    for (let sent = 0; sent < 6; sent += 1) {
      const before = upstream.heard.length;
      const { status, text } = await send(CHAT);
      if (status === 200) {
        caps.push(Number(heard()['max_completion_tokens']));
        assert.ok(reserved('tokens') > (caps.at(-1) ?? 0));
      } else {
        refused += 1;
        assert.equal(upstream.heard.length, before);
        assert.match(text, /budget_exhausted|rate_limit_wait_budget_exceeded/);
      }
      // An answer as long as the cap permits.
      upstream.answer = (response, { body }) =>
        response.end(JSON.stringify(completion(Number(body['max_completion_tokens']), 10)));
    }
    assert.ok(
      caps.every((cap, index) => index === 0 || cap <= (caps[index - 1] ?? 0)),
      caps.join(),
    );
    assert.ok(refused > 0);
    assert.ok((await gateway.usage('tokens', 'tokens', 'day')) <= 8_000);
  });

  it('what is reserved and not used comes back', async () => {
    await send(CHAT);
    assert.equal(await gateway.usage('spend', 'spend', 'day'), 57);
  });

  it('who finds the limit reserved waits for those who give back, within the wait budget', async () => {
    const policies = [{ ...TOKENS, limitValue: 5_500 }];
    gateway.organization = organize({ policies, waitMs: 20_000 });
    const held: (() => void)[] = [];
    upstream.answer = (response) => void held.push(() => response.end(JSON.stringify(completion())));
    const own = { ...CHAT, max_tokens: 4_000 };
    const first = gateway.send(own);
    await until(() => held.length === 1);
    const others = [gateway.send(own), gateway.send(own)];
    await until(() => gateway.asked.length >= 3);
    assert.equal(held.length, 1, 'only one reservation has room');
    for (let served = 0; served < 3; served += 1) {
      await until(() => held.length > served);
      held[served]?.();
    }
    for (const sent of [first, ...others]) assert.equal((await sent.answered)?.status, 200);
    gateway.organization = organize({ policies, waitMs: 0 });
    const last = gateway.send(own);
    await until(() => held.length === 4);
    assert.equal((await send(own)).status, 429, 'without a wait budget it is refused');
    held[3]?.();
    await last.answered;
  });

  it('who is woken and finds no room gives its turn to the next', async () => {
    const policies = [{ ...TOKENS, limitValue: 5_500 }];
    gateway.organization = organize({ policies, waitMs: 20_000 });
    const held: ((used: number) => void)[] = [];
    upstream.answer = (response) =>
      void held.push((used) => response.end(JSON.stringify(completion(used, 10))));
    const first = gateway.send({ ...CHAT, max_tokens: 4_000 });
    await until(() => held.length === 1);
    const large = gateway.send({ ...CHAT, max_tokens: 4_000 });
    await until(() => gateway.asked.length >= 2);
    const small = gateway.send({ ...CHAT, max_tokens: 1_500 });
    await until(() => gateway.asked.length >= 3);
    held[0]?.(3_000);
    assert.equal((await large.answered)?.status, 429, 'too much was used for the large one');
    await until(() => held.length === 2);
    held[1]?.(10);
    for (const sent of [first, small]) assert.equal((await sent.answered)?.status, 200);
  });

  it('a fallback that finds no room does not wait for its own first attempt', async () => {
    const policies = [{ ...TOKENS, limitValue: 5_500 }];
    gateway.organization = organize({ policies, endpoints: [{}, {}], waitMs: 20_000 });
    upstream.answer = (response) => void response.destroy();
    const startedMs = performance.now();
    const { status } = await send({ ...CHAT, max_tokens: 4_000 });
    assert.notEqual(status, 200);
    assert.ok(performance.now() - startedMs < 10_000, 'the wait budget is not used up');
  });

  it('what no provider reported counts as what was reserved', async () => {
    upstream.answer = (response) => response.end(JSON.stringify({ choices: [] }));
    await send({ ...CHAT, max_tokens: 50 });
    const charged = reserved();
    const record = await gateway.nthRecord(1);
    assert.equal(record.actualCostMicros, charged);
    assert.equal((record.actualInputTokens ?? 0) + 10 * (record.actualOutputTokens ?? 0), charged);
    assert.equal(record.usageSource, 'estimated');
    assert.equal(await gateway.usage('spend', 'spend', 'day'), charged);
  });

  it('a report in part counts, and the other count as it was reserved', async () => {
    const usage = { prompt_tokens: 9 };
    upstream.answer = (response) => response.end(JSON.stringify({ ...completion(), usage }));
    await send({ ...CHAT, max_tokens: 50 });
    const record = await gateway.nthRecord(1);
    assert.deepEqual(
      [record.actualInputTokens, record.actualOutputTokens, record.usageSource],
      [9, 50, 'estimated'],
    );
  });

  it('what cannot be reached is not charged at the most', async () => {
    await upstream.close();
    const { status } = await send({ ...CHAT, max_tokens: 50 });
    assert.equal(status, 502);
    assert.ok((await gateway.usage('spend', 'spend', 'day')) < 100);
    upstream = await startListening();
  });

  it('more than was reserved is charged, and kept with the request', async () => {
    upstream.answer = (response) => response.end(JSON.stringify(completion(600, 7)));
    await send({ ...CHAT, max_tokens: 50 });
    const record = await gateway.nthRecord(1);
    assert.equal(record.actualOutputTokens, 600);
    assert.equal(record.reportedUsage?.outputTokens, 600);
    assert.equal(await gateway.usage('spend', 'spend', 'day'), 6_007);
  });

  describe('what only the context window bounds', () => {
    const cases: [string, object, string][] = [
      ['a stored response', { ...RESPONSES, previous_response_id: 'resp_1' }, 'previous_response_id'],
      ['a tool of the provider', { ...RESPONSES, tools: [{ type: 'web_search' }] }, 'tools'],
      ['an output cap that is no number', { ...RESPONSES, max_output_tokens: -1 }, 'max_output_tokens'],
    ];
    for (const [what, body, param] of cases) {
      it(`${what}: refused with 400 where it is unknown`, async () => {
        const { status, text } = await send(body, '/v1/responses');
        assert.equal(status, 400);
        const { error } = JSON.parse(text) as { error: Record<string, unknown> };
        assert.equal(error['code'], 'unbounded_request');
        assert.equal(error['param'], param);
        assert.equal(upstream.heard.length, 0);
      });
      it(`${what}: reserved as large as the window`, async () => {
        gateway.organization = organize({ endpoints: [{}, { contextWindow: 5_000 }] });
        const { status, text } = await send(body, '/v1/responses');
        assert.equal(status, 200, text);
        assert.match(upstream.heard[0]?.path ?? '', /^\/e1\//);
        assert.ok(reserved() >= 5_000, String(reserved()));
      });
    }
    it('is no matter without a hard limit', async () => {
      gateway.organization = organize({ policies: [{ ...SPEND, enforcement: 'estimate' }] });
      const { status, headers } = await send({ ...RESPONSES, previous_response_id: 'r' }, '/v1/responses');
      assert.equal(status, 200);
      assert.equal(headers[CAP], undefined);
      assert.equal(heard()['max_output_tokens'], undefined);
    });
  });
});

async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2_000 && !holds(); turn += 1)
    await new Promise((resolve) => setTimeout(resolve, 5));
  assert.ok(holds());
}
