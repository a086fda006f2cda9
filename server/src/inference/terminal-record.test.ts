import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { allScopes } from '@relay/contract';
import { type AdmissionDesk, createDesk } from '../admission/desk.ts';
import { createLocalCooldowns } from '../admission/local-cooldowns.ts';
import { createMemoryEngine } from '../admission/memory-engine.ts';
import type { Caller } from '../domain/caller.ts';
import type { RequestRecord } from '../domain/request-record.ts';
import { credential, endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import type { LimitPolicy, OrganizationSnapshot } from '../domain/snapshot.ts';
import { systemClock as clock } from '../kit/clock.ts';
import { createEgress } from '../kit/egress/index.ts';
import { createLog } from '../kit/log.ts';
import { Secret } from '../kit/secret.ts';
import { createInferenceHandler } from './handler.ts';
import { createTypicalOutput } from './settle/typical-output.ts';

const CANARY = 'canary-0f3a';
const log = createLog('silent');
const access = { granted: null, permissions: new Set(allScopes), plan: 'self_hosted' as const };
const caller: Caller = {
  organizationId: 'org',
  userId: 'anne',
  keyId: 'key',
  sessionId: null,
  kind: 'user_key',
  scopes: new Set(allScopes),
  access,
  keyPolicies: [],
};

describe('the terminal record', () => {
  let upstream: Server;
  let gateway: Server;
  let desk: AdmissionDesk;
  let stop: () => Promise<void>;
  let organization: OrganizationSnapshot;
  let answer: (response: ServerResponse, model: string) => void;
  let records: RequestRecord[];
  let recorded: Promise<RequestRecord>;

  beforeEach(async () => {
    let note: (record: RequestRecord) => void = () => undefined;
    records = [];
    recorded = new Promise((resolve) => {
      note = resolve;
    });
    const append = (text: string) => {
      const record = JSON.parse(text) as RequestRecord;
      records.push(record);
      note(record);
    };
    answer = (response) => response.end(JSON.stringify({ choices: [{ message: { content: CANARY } }] }));
    upstream = createServer((incoming, response) => {
      incoming.resume().once('end', () => answer(response, incoming.url?.split('/')[1] ?? ''));
    }).listen(0, '127.0.0.1');
    await once(upstream, 'listening');

    const engine = createMemoryEngine({
      clock,
      append,
      appendExpired: () => undefined,
      wake: (id) => desk.woken(id),
    });
    desk = createDesk({
      engine,
      local: createLocalCooldowns({
        clock,
        channel: { announce: () => undefined, subscribe: () => undefined },
      }),
      append: (_organizationId, record) => append(record),
      journal: { draft: () => undefined, settlement: () => undefined },
      openings: () => Promise.resolve([]),
      clock,
      log,
    });
    const egress = createEgress({
      allowedCidrs: ['127.0.0.0/8'],
      connectTimeoutMs: 1_000,
      connectionsPerOriginMax: 4,
      originsMax: 4,
    });
    const handler = createInferenceHandler({
      authenticate: () => caller,
      snapshotOf: () => organization,
      desk,
      egress,
      waitersMax: 10,
      clock,
      log,
      typicalOutput: createTypicalOutput(),
      bodyBytesMax: 1_000_000,
      attemptsMax: 3,
      publicUrl: 'https://relay.example.com',
      draining: () => false,
      headersTimeoutMs: 5_000,
      idleTimeoutMs: 5_000,
    });
    gateway = createServer((incoming, response) => handler(incoming, response, randomUUIDv7()));
    gateway.listen(0, '127.0.0.1');
    await once(gateway, 'listening');
    organization = organize();
    stop = async () => {
      await desk.stop(1_000);
      await egress.close();
      gateway.closeAllConnections();
      upstream.closeAllConnections();
      await Promise.all([once(gateway.close(), 'close'), once(upstream.close(), 'close')]);
    };
  });
  afterEach(async () => {
    await stop();
    assert.ok(records.length > 0);
    for (const record of records)
      assert.ok(!JSON.stringify(record).includes(CANARY), 'a word of the request is in its record');
  });

  /** A lane `fast` over the endpoints a, b and c, and d which is disabled. */
  function organize(limitPolicies: LimitPolicy[] = [], over: Parameters<typeof lane>[1] = {}) {
    const { port } = upstream.address() as AddressInfo;
    const names = ['a', 'b', 'c', 'd'];
    return snapshot({
      providers: names.map((id) => provider(`p${id}`, { baseUrl: `http://127.0.0.1:${port}/${id}` })),
      credentials: names.map((id) => credential(`key-${id}`, `p${id}`, { secret: new Secret(CANARY) })),
      endpoints: names.map((id) => endpoint(id, `p${id}`, `m-${id}`, { enabled: id !== 'd', pacing: false })),
      lanes: [lane('fast', { defaultMaxWaitMs: 2_000, ...over })],
      memberships: names.map((id, index) => member('fast', id, (index + 1) * 10)),
      limitPolicies,
    });
  }

  function send(body: object | string, path = '/v1/chat/completions') {
    const { port } = gateway.address() as AddressInfo;
    const sent = request({ port, host: '127.0.0.1', path, method: 'POST' });
    sent.on('error', () => undefined);
    sent.end(typeof body === 'string' ? body : JSON.stringify(body));
    sent.once('response', (response) => response.resume());
    return sent;
  }
  const chat = (over: object = {}) => ({
    model: 'fast',
    messages: [{ role: 'user', content: CANARY }],
    user: CANARY,
    ...over,
  });
  const verdicts = ({ candidates }: RequestRecord) => candidates?.map(({ verdict }) => verdict);

  it('says which model was asked for, with which credential, and what every candidate was', async () => {
    send(chat());
    const record = await recorded;
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
    send(chat());
    const { timings, latencyMs, ttftMs, attempts } = await recorded;
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
    send(chat());
    const record = await recorded;
    assert.deepEqual(verdicts(record), ['unhealthy', 'selected', 'available', 'disabled']);
    assert.equal(record.credentialId, 'key-b');
    const [first, second] = record.attempts;
    assert.ok((first?.startedMs ?? 0) + (first?.latencyMs ?? 0) <= (second?.startedMs ?? 0) + 1);
    assert.deepEqual([first?.waitMs, second?.waitMs], [0, 0]);
  });

  it('names the policy that made it wait, and how long', async () => {
    organization = organize([onePer('second')]);
    send(chat());
    await recorded;
    send(chat());
    const record = await next(2);
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
    organization = organize([onePer('minute')]);
    send(chat());
    await recorded;
    send(chat());
    const record = await next(2);
    assert.equal(record.status, 429);
    assert.equal(record.boundPolicy?.period, 'minute');
    assert.ok((record.boundPolicy?.resetsAtMs ?? 0) > record.arrivedAtMs);
    assert.deepEqual(verdicts(record), ['limited', 'limited', 'limited', 'disabled']);
    assert.deepEqual([record.attempts, record.credentialId], [[], null]);
    assert.equal(record.timings?.upstreamFirstByteMs, null);
  });

  it('of a client that left in line says whom it waited for, behind which policy', async () => {
    const only = { ...onePer('none'), metric: 'concurrency' as const };
    organization = organize([only]);
    let reached: () => void = () => undefined;
    const dispatched = new Promise<void>((resolve) => {
      reached = resolve;
    });
    answer = () => reached();
    const first = send(chat());
    await dispatched;
    const second = send(chat());
    while (desk.counts().waiting === 0) await new Promise((resolve) => setImmediate(resolve));
    second.destroy();
    const record = await recorded;
    first.destroy();
    assert.equal(record.state, 'cancelled');
    assert.equal(record.boundPolicy?.metric, 'concurrency');
    assert.equal(record.boundPolicy?.resetsAtMs, null);
    assert.deepEqual(verdicts(record), ['would_wait', 'available', 'available', 'disabled']);
    await next(2);
  });

  it('says what is known of a request that was never routed', async () => {
    send('{');
    const unread = await recorded;
    assert.deepEqual([unread.model, unread.candidates, unread.laneId], [null, [], null]);
    assert.equal(unread.timings?.receiveMs, null);
    send(chat({ model: 'x'.repeat(500), stream: true }));
    const unknown = await next(2);
    assert.deepEqual([unknown.model, unknown.streaming], ['x'.repeat(200), true]);
    assert.ok(Number.isInteger(unknown.timings?.receiveMs));
    assert.deepEqual([unknown.timings?.routeMs, unknown.candidates], [null, []]);
  });

  it('says why nobody behind a name could serve', async () => {
    send({ model: 'pd/m-d', messages: [{ role: 'user', content: CANARY }] });
    const record = await recorded;
    assert.equal(record.cause, 'no_route');
    assert.deepEqual(record.candidates, [
      { endpointId: 'd', rank: 0, verdict: 'disabled', reason: 'the endpoint is disabled', waitMs: null },
    ]);
  });

  async function next(count: number): Promise<RequestRecord> {
    while (records.length < count) await new Promise((resolve) => setImmediate(resolve));
    return records[count - 1] as RequestRecord;
  }
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
