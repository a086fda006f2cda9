import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import type { UnpricedRule } from '../domain/snapshot.ts';
import { type Gateway, type Listening, startGateway, startListening } from './gateway.fixture.ts';
import { limit } from './guarded-site.fixture.ts';

const PRICE = {
  inputCostMicrosPer1mTokens: 1_000_000,
  outputCostMicrosPer1mTokens: 15_000_000,
  cachedInputCostMicrosPer1mTokens: null,
  flatRequestCostMicros: 0,
};
const CHAT = { model: 'fast', messages: [{ role: 'user', content: 'question' }], max_tokens: 50 };
const ANSWER = JSON.stringify({
  choices: [{ message: { content: 'x' } }],
  usage: { prompt_tokens: 7, completion_tokens: 5 },
});

describe('under a limit on spend', () => {
  let upstream: Listening;
  let gateway: Gateway;
  let served: string[];

  beforeEach(async () => {
    served = [];
    upstream = await startListening();
    upstream.answer = (response, { path }) => {
      served.push(path.split('/')[1] ?? '');
      response.end(ANSWER);
    };
    gateway = await startGateway(organize(['b'], 'refuse'));
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  function organize(
    priced: readonly string[],
    unpriced: UnpricedRule,
    enforcement: 'estimate' | 'hard' = 'estimate',
  ) {
    const names = ['a', 'b'];
    return snapshot({
      providers: names.map((id) =>
        provider(`p${id}`, { baseUrl: `${upstream.url}/${id}`, authMode: 'none' }),
      ),
      endpoints: names.map((id) => endpoint(id, `p${id}`, `m-${id}`, { pacing: false })),
      lanes: [lane('fast', { defaultMaxWaitMs: 0 })],
      memberships: names.map((id, index) => member('fast', id, index)),
      limitPolicies: [{ ...limit('spend', 'spend', 'minute', 5_000_000), unpriced, enforcement }],
      pricing: new Map(priced.map((id) => [id, PRICE])),
    });
  }

  it('only an endpoint with a price serves, though another comes first', async () => {
    const { status, record } = await send();
    assert.equal(status, 200);
    assert.deepEqual(served, ['b']);
    assert.deepEqual(
      (record.candidates ?? []).map(({ endpointId, verdict }) => [endpointId, verdict]),
      [
        ['a', 'unpriced'],
        ['b', 'selected'],
      ],
    );
  });

  it('a request without such an endpoint is refused with 400, which names the endpoints and the limit', async () => {
    gateway.organization = organize([], 'refuse');
    const { status, text } = await send();
    assert.equal(status, 400);
    const { error } = JSON.parse(text) as {
      error: { code: string; message: string; policy: { id: string } };
    };
    assert.equal(error.code, 'unpriced');
    assert.match(
      error.message,
      /limit of \$5\.00 per minute on the whole organization applies.*has a price \("a", "b"\)/,
    );
    assert.equal(error.policy.id, 'spend');
    assert.deepEqual(served, []);
  });

  it('it is told to let the request through uncounted only if the limit can', async () => {
    for (const [enforcement, isAdvised] of [
      ['estimate', true],
      ['hard', false],
    ] as const) {
      gateway.organization = organize([], 'refuse', enforcement);
      assert.equal((await send()).text.includes('to \\"allow\\"'), isAdvised, enforcement);
    }
  });

  it('endpoints without a price serve where the limit allows it, and their cost is unknown, not zero', async () => {
    gateway.organization = organize([], 'allow');
    const { status, record } = await send();
    assert.equal(status, 200);
    assert.deepEqual(served, ['a']);
    assert.equal(record.actualCostMicros, null);
    assert.equal(record.estimatedCostMicros, null);
  });

  async function send() {
    const answered = await gateway.send(CHAT).answered;
    assert.ok(answered);
    return { ...answered, record: await gateway.nthRecord(1) };
  }
});
