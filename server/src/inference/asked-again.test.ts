import assert from 'node:assert/strict';
import type { OutgoingHttpHeaders } from 'node:http';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import type { LimitPolicy } from '../domain/snapshot.ts';
import { type Gateway, type Listening, startGateway, startListening } from './gateway.fixture.ts';

const THROTTLE = JSON.stringify({ error: { message: 'slow down' } });
/** Of the fixture. */
const ATTEMPTS_MAX = 3;

describe('a provider that asks for a pause', () => {
  let upstream: Listening;
  let gateway: Gateway;
  /** The refusals of each endpoint, one after the other; a good answer when none is left. */
  let refusals: Record<string, { status?: number; headers: OutgoingHttpHeaders }[]>;
  const asked = () => upstream.heard.map(({ path }) => path.split('/')[1]).join('');

  beforeEach(async () => {
    refusals = {};
    upstream = await startListening();
    upstream.answer = (response, { path }) => {
      const refusal = refusals[path.split('/')[1] ?? '']?.shift();
      if (refusal === undefined) response.end('{"choices":[]}');
      else response.writeHead(refusal.status ?? 429, refusal.headers).end(THROTTLE);
    };
    gateway = await startGateway(organize({}));
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  function organize(over: Parameters<typeof lane>[1], limitPolicies: LimitPolicy[] = []) {
    const names = ['a', 'b'];
    return snapshot({
      providers: names.map((id) =>
        provider(`p${id}`, { authMode: 'none', baseUrl: `${upstream.url}/${id}` }),
      ),
      endpoints: names.map((id) => endpoint(id, `p${id}`, `m-${id}`, { pacing: false })),
      lanes: ['both', 'alone'].map((id) => lane(id, { defaultMaxWaitMs: 1_500, ...over })),
      memberships: [member('both', 'a', 1), member('both', 'b', 2), member('alone', 'a', 1)],
      limitPolicies,
    });
  }

  const chat = (model: string) => ({ model, messages: [{ role: 'user', content: 'Hello?' }] });
  async function send(model: string) {
    const count = gateway.records.length + 1;
    const answered = await gateway.send(chat(model)).answered;
    assert.ok(answered);
    return { ...answered, record: await gateway.nthRecord(count) };
  }

  const date = (inMs: number) => ({ 'retry-after': new Date(Date.now() + inMs).toUTCString() });
  for (const [what, status, headers, waitMsMin] of [
    ['429, seconds', 429, { 'retry-after': '1' }, 900],
    ['503, seconds', 503, { 'retry-after': '1' }, 900],
    ['429, milliseconds', 429, { 'retry-after-ms': '250', 'retry-after': '1' }, 240],
    ['429, now', 429, { 'retry-after': '0' }, 90],
    ['429, a date in the past', 429, date(-60_000), 90],
  ] as const) {
    it(`is asked again after the pause (${what}), which counts as wait`, async () => {
      refusals = { a: [{ status, headers }] };
      const { status: seen, headers: answer, record } = await send('alone');
      assert.deepEqual([seen, asked()], [200, 'aa']);
      const waitMs = Number(answer['x-relay-wait-ms']);
      assert.ok(waitMs >= waitMsMin && waitMs < waitMsMin + 600, `${waitMs}`);
      assert.equal(answer['x-relay-fallback-count'], '0');
      assert.deepEqual(
        record.attempts.map((attempt) => [attempt.status, attempt.outcome]),
        [
          [status, 'failed'],
          [200, 'completed'],
        ],
      );
      assert.deepEqual([record.waitMs, gateway.records.length], [waitMs, 1]);
    });
  }

  for (const [what, headers] of [
    ['a pause beyond the wait budget', { 'retry-after': '2' }],
    ['hours', { 'retry-after': '31140' }],
    ['no pause', {}],
    ['less than no pause', { 'retry-after': '-1' }],
    ['nonsense', { 'retry-after': 'soon' }],
  ] as const) {
    it(`passes its own 429 on for ${what}, immediately`, async () => {
      refusals = { a: [{ headers }] };
      const { status, text, headers: answer, record } = await send('alone');
      assert.deepEqual([status, text, asked()], [429, THROTTLE, 'a']);
      const said: { readonly 'retry-after'?: string } = headers;
      assert.equal(answer['retry-after'], said['retry-after']);
      assert.deepEqual([record.waitMs, record.status, record.cause], [0, 429, 'upstream_status_429']);
    });
  }

  it('is asked no more often than the number of attempts, and waits no longer than the budget', async () => {
    const again = Array.from({ length: 9 }, () => ({ headers: { 'retry-after': '0' } }));
    refusals = { a: again };
    assert.equal((await send('alone')).status, 429);
    assert.equal(asked(), 'a'.repeat(ATTEMPTS_MAX));
    upstream.heard.length = 0;
    refusals = { a: [{ headers: { 'retry-after': '1' } }, { headers: { 'retry-after': '1' } }] };
    // The cooldown of the request before ends first.
    const { status, record } = await send('alone');
    assert.deepEqual([status, asked()], [429, 'aa']);
    assert.ok(record.waitMs <= 1_500);
  });

  it('comes after the candidates that were not tried yet, and before giving up', async () => {
    refusals = { a: [{ headers: { 'retry-after-ms': '200' } }], b: [{ status: 500, headers: {} }] };
    const { status, headers } = await send('both');
    assert.deepEqual([status, asked(), headers['x-relay-fallback-count']], [200, 'aba', '2']);
  });

  it('is charged for each time it was asked, and for the tokens of the answer alone', async () => {
    const shared = { scopeType: 'global', scopeId: null, period: 'minute', enabled: true } as const;
    gateway.organization = organize({}, [
      { id: 'requests', ...shared, metric: 'requests', limitValue: 100 },
      { id: 'tokens', ...shared, metric: 'tokens', limitValue: 100_000 },
    ]);
    refusals = { a: [{ headers: { 'retry-after-ms': '200' } }] };
    const { record } = await send('alone');
    const usedTokens = record.actualInputTokens + record.actualOutputTokens;
    assert.deepEqual([await gateway.usage('requests', 'requests'), record.attempts.length], [2, 2]);
    assert.equal(await gateway.usage('tokens', 'tokens'), usedTokens);
  });

  it('is the only one that is asked again without fallback', async () => {
    gateway.organization = organize({ allowFallback: false });
    refusals = { a: [{ headers: { 'retry-after-ms': '200' } }] };
    assert.deepEqual([(await send('both')).status, asked()], [200, 'aa']);
  });

  it('is not waited for by a client that left or by a process that stops', async () => {
    refusals = { a: [{ headers: { 'retry-after': '1' } }, { headers: { 'retry-after': '1' } }] };
    const left = gateway.send(chat('alone'));
    await waiting();
    left.leave();
    const cancelled = await gateway.nthRecord(1);
    assert.deepEqual([cancelled.state, cancelled.attempts.length], ['cancelled', 1]);
    assert.ok(cancelled.latencyMs < 900, `${cancelled.latencyMs}`);
    const startMs = performance.now();
    const stopped = gateway.send(chat('alone'));
    await waiting();
    gateway.cutOff();
    assert.equal((await stopped.answered)?.status, 503);
    assert.ok(performance.now() - startMs < 900);
    assert.equal(asked(), 'a');
  });

  async function waiting(): Promise<void> {
    while (gateway.desk.counts().waiting === 0) await new Promise((resolve) => setImmediate(resolve));
  }
});
