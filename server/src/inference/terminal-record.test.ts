import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { RequestRecord } from '../domain/request-record.ts';
import { credential, endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import type { LimitPolicy } from '../domain/snapshot.ts';
import { Secret } from '../kit/secret.ts';
import { type Gateway, type Listening, startGateway, startListening } from './gateway.fixture.ts';

const CANARY = 'canary-0f3a';

describe('the terminal record', () => {
  let upstream: Listening;
  let gateway: Gateway;
  let answer: (response: ServerResponse, model: string) => void;

  beforeEach(async () => {
    answer = (response) => response.end(JSON.stringify({ choices: [{ message: { content: CANARY } }] }));
    upstream = await startListening();
    upstream.answer = (response, { path }) => answer(response, path.split('/')[1] ?? '');
    gateway = await startGateway(organize());
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
    assert.ok(gateway.records.length > 0);
    for (const record of gateway.records)
      assert.ok(!JSON.stringify(record).includes(CANARY), 'a word of the request is in its record');
  });

  /** A lane `fast` over the endpoints a, b and c, and d which is disabled. */
  function organize(limitPolicies: LimitPolicy[] = [], over: Parameters<typeof lane>[1] = {}) {
    const names = ['a', 'b', 'c', 'd'];
    return snapshot({
      providers: names.map((id) => provider(`p${id}`, { baseUrl: `${upstream.url}/${id}` })),
      credentials: names.map((id) => credential(`key-${id}`, `p${id}`, { secret: new Secret(CANARY) })),
      endpoints: names.map((id) => endpoint(id, `p${id}`, `m-${id}`, { enabled: id !== 'd', pacing: false })),
      lanes: [lane('fast', { defaultMaxWaitMs: 2_000, ...over })],
      memberships: names.map((id, index) => member('fast', id, (index + 1) * 10)),
      limitPolicies,
    });
  }

  const chat = (over: object = {}) => ({
    model: 'fast',
    messages: [{ role: 'user', content: CANARY }],
    user: CANARY,
    ...over,
  });
  const verdicts = ({ candidates }: RequestRecord) => candidates?.map(({ verdict }) => verdict);

  it('says which model was asked for, with which credential, and what every candidate was', async () => {
    gateway.send(chat());
    const record = await gateway.nthRecord(1);
    assert.equal(record.model, 'fast');
    assert.equal(record.laneId, 'fast');
    assert.equal(record.credentialId, 'key-a');
    assert.equal(record.boundPolicy, null);
    assert.deepEqual(verdicts(record), ['selected', 'available', 'available', 'disabled']);
    assert.deepEqual(
      record.candidates?.map(({ endpointId, rank }) => [endpointId, rank]),
      [
        ['a', 10],
        ['b', 20],
        ['c', 30],
        ['d', 40],
      ],
    );
  });

  it('has whole milliseconds for every step, in an order that adds up', async () => {
    answer = (response) => setTimeout(() => response.end('{"choices":[]}'), 30);
    gateway.send(chat());
    const { timings, latencyMs, ttftMs, attempts } = await gateway.nthRecord(1);
    assert.ok(timings);
    const { guardMs, ...reached } = timings;
    assert.equal(guardMs, null);
    for (const [name, value] of Object.entries(reached)) assert.ok(Number.isInteger(value), name);
    assert.ok((timings.upstreamFirstByteMs ?? 0) >= 29);
    assert.deepEqual([timings.totalMs, timings.firstContentMs, timings.waitMs], [latencyMs, ttftMs, 0]);
    assert.ok((timings.receiveMs ?? 0) <= (attempts[0]?.startedMs ?? -1));
    assert.ok((attempts[0]?.startedMs ?? 0) <= latencyMs);
  });

  it('tells of every attempt when it began, and of one that failed that it did', async () => {
    answer = (response, name) => {
      if (name === 'a') response.writeHead(500).end(CANARY);
      else response.end('{"choices":[]}');
    };
    gateway.send(chat());
    const record = await gateway.nthRecord(1);
    assert.deepEqual(verdicts(record), ['unhealthy', 'selected', 'available', 'disabled']);
    assert.equal(record.credentialId, 'key-b');
    const [first, second] = record.attempts;
    assert.ok((first?.startedMs ?? 0) + (first?.latencyMs ?? 0) <= (second?.startedMs ?? 0) + 1);
    assert.deepEqual([first?.waitMs, second?.waitMs], [0, 0]);
  });

  it('names the policy that made it wait, and how long', async () => {
    gateway.organization = organize([onePer('second')]);
    gateway.send(chat());
    await gateway.nthRecord(1);
    gateway.send(chat());
    const record = await gateway.nthRecord(2);
    assert.equal(record.state, 'completed');
    assert.deepEqual({ ...record.boundPolicy, resetsAtMs: 0 }, { ...LIMIT, period: 'second', resetsAtMs: 0 });
    const waited = record.attempts[0]?.waitMs ?? 0;
    assert.ok(waited > 0);
    assert.deepEqual([record.waitMs, record.timings?.waitMs], [waited, waited]);
    assert.equal(record.candidates?.[0]?.waitMs, waited);
    const resetsAtMs = record.boundPolicy?.resetsAtMs ?? 0;
    assert.ok(Math.abs(resetsAtMs - record.arrivedAtMs - waited) < 500);
  });

  it('names the policy that refused it, and all candidates are limited', async () => {
    gateway.organization = organize([onePer('minute')]);
    gateway.send(chat());
    await gateway.nthRecord(1);
    gateway.send(chat());
    const record = await gateway.nthRecord(2);
    assert.equal(record.status, 429);
    assert.equal(record.boundPolicy?.period, 'minute');
    assert.ok((record.boundPolicy?.resetsAtMs ?? 0) > record.arrivedAtMs);
    assert.deepEqual(verdicts(record), ['limited', 'limited', 'limited', 'disabled']);
    assert.deepEqual([record.attempts, record.credentialId], [[], null]);
    assert.equal(record.timings?.upstreamFirstByteMs, null);
    const { lanes } = await gateway.desk.traffic({ organizationId: 'org', userId: undefined });
    assert.deepEqual(
      lanes.map(({ laneId, rejections }) => [laneId, rejections]),
      [['fast', 1]],
    );
  });

  it('of a fallback that was refused is not a rejection: the client gets the response of the attempt', async () => {
    gateway.organization = organize([onePer('minute')]);
    answer = (response) => response.writeHead(500).end();
    gateway.send(chat());
    const record = await gateway.nthRecord(1);
    assert.deepEqual([record.status, record.attempts.length], [500, 1]);
    const { lanes } = await gateway.desk.traffic({ organizationId: 'org', userId: undefined });
    assert.deepEqual(lanes, []);
  });

  it('of a client that left in line says whom it waited for, behind which policy', async () => {
    const only = { ...onePer('none'), metric: 'concurrency' as const };
    gateway.organization = organize([only]);
    let reached: () => void = () => undefined;
    const dispatched = new Promise<void>((resolve) => {
      reached = resolve;
    });
    answer = () => reached();
    const first = gateway.send(chat());
    await dispatched;
    const second = gateway.send(chat());
    while (gateway.desk.counts().waiting === 0) await new Promise((resolve) => setImmediate(resolve));
    second.leave();
    const record = await gateway.nthRecord(1);
    first.leave();
    assert.equal(record.state, 'cancelled');
    assert.equal(record.boundPolicy?.metric, 'concurrency');
    assert.equal(record.boundPolicy?.resetsAtMs, null);
    assert.deepEqual(verdicts(record), ['would_wait', 'available', 'available', 'disabled']);
    await gateway.nthRecord(2);
  });

  it('says what is known of a request that was never routed', async () => {
    gateway.send('{');
    const unread = await gateway.nthRecord(1);
    assert.deepEqual([unread.model, unread.candidates, unread.laneId], [null, [], null]);
    assert.equal(unread.timings?.receiveMs, null);
    gateway.send(chat({ model: 'x'.repeat(500), stream: true }));
    const unknown = await gateway.nthRecord(2);
    assert.deepEqual([unknown.model, unknown.streaming], ['x'.repeat(200), true]);
    assert.ok(Number.isInteger(unknown.timings?.receiveMs));
    assert.deepEqual([unknown.timings?.routeMs, unknown.candidates], [null, []]);
  });

  it('says why no candidate of a name could serve', async () => {
    gateway.send({ model: 'pd/m-d', messages: [{ role: 'user', content: CANARY }] });
    const record = await gateway.nthRecord(1);
    assert.equal(record.cause, 'no_route');
    assert.deepEqual(record.candidates, [
      { endpointId: 'd', rank: 0, verdict: 'disabled', reason: 'the endpoint is disabled', waitMs: null },
    ]);
  });
});

const LIMIT = {
  id: 'limit',
  kind: 'resource',
  scopeType: 'global',
  scopeId: null,
  metric: 'requests',
} as const;

function onePer(period: LimitPolicy['period']): LimitPolicy {
  const { id, scopeType, scopeId, metric } = LIMIT;
  return { id, scopeType, scopeId, metric, period, limitValue: 1, enabled: true };
}
