import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { credential, endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import { Secret } from '../kit/secret.ts';
import { type Gateway, type Listening, startGateway, startListening } from './gateway.fixture.ts';

const CHAT = { model: 'fast', messages: [{ role: 'user', content: 'hello' }] };

describe('an endpoint that is down', () => {
  let upstream: Listening;
  let gateway: Gateway;
  /** By endpoint. */
  let statuses: Record<string, number>;

  beforeEach(async () => {
    statuses = {};
    upstream = await startListening();
    upstream.answer = (response, { path }) => answer(response, statuses[path.split('/')[1] ?? ''] ?? 200);
    gateway = await startGateway(organize());
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  function answer(response: ServerResponse, status: number): void {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(status === 200 ? { choices: [] } : { error: { message: 'no' } }));
  }

  /** A lane over the endpoints a, b and c, each at a provider of its own; a second one, `sole`, over a alone. */
  function organize(over: Parameters<typeof lane>[1] = {}, secret = 'secret') {
    const names = ['a', 'b', 'c'];
    return snapshot({
      providers: names.map((id) => provider(`p${id}`, { baseUrl: `${upstream.url}/${id}` })),
      credentials: names.map((id) => credential(`key-${id}`, `p${id}`, { secret: new Secret(secret) })),
      endpoints: names.map((id) => endpoint(id, `p${id}`, `m-${id}`, { pacing: false })),
      lanes: [lane('fast', over), lane('sole')],
      memberships: [...names.map((id, rank) => member('fast', id, rank)), member('sole', 'a', 0)],
    });
  }

  /** The endpoints that a request was sent to, in order. */
  async function sent(model = 'fast'): Promise<string> {
    const from = upstream.heard.length;
    const answered = await gateway.send({ ...CHAT, model }).answered;
    const tried = upstream.heard.slice(from).map(({ path }) => path.split('/')[1]);
    return `${tried.join(' ')}: ${answered?.status}`;
  }

  async function sentTimes(count: number, model?: string): Promise<string[]> {
    const all: string[] = [];
    for (let n = 0; n < count; n += 1) all.push(await sent(model));
    return all;
  }

  it('is left out after three faults in a row, and the record says so', async () => {
    statuses = { a: 500 };
    assert.deepEqual(await sentTimes(5), ['a b: 200', 'a b: 200', 'a b: 200', 'b: 200', 'b: 200']);
    const record = await gateway.nthRecord(5);
    const [first, second] = record.candidates ?? [];
    assert.equal(first?.verdict, 'unhealthy');
    assert.match(
      first?.reason ?? '',
      /^skipped: down for 1 s, status 500; Relay tries it again with a single request every 1 s$/,
    );
    assert.equal(second?.verdict, 'selected');
  });

  it('is still tried where it is the only one, and when all others fail', async () => {
    statuses = { a: 500 };
    assert.deepEqual(await sentTimes(5, 'sole'), Array(5).fill('a: 500'));
    assert.equal(await sent(), 'b: 200');
    statuses = { a: 200, b: 500, c: 500 };
    assert.equal(await sent(), 'b c a: 200');
  });

  it('keeps its place when all are down', async () => {
    statuses = { a: 500, b: 500, c: 500 };
    assert.deepEqual(await sentTimes(5), Array(5).fill('a b c: 500'));
  });

  it('is tried by a single request after a second, and is back when that succeeds', async () => {
    statuses = { a: 500 };
    await sentTimes(3);
    await delayed(1_050);
    const failing = await Promise.all(Array.from({ length: 10 }, () => sentAlone()));
    assert.equal(failing.filter((endpoints) => endpoints.includes('a')).length, 1, 'one probe');
    assert.match(
      gateway.records
        .flatMap(({ candidates }) => candidates ?? [])
        .map(({ reason }) => reason)
        .join('\n'),
      /it was down, and the test request to it failed/,
    );
    statuses = {};
    await delayed(2_050);
    assert.equal(await sent(), 'a: 200');
    assert.equal(await sent(), 'a: 200');
  });

  it('is not probed by a request that cannot fall back', async () => {
    statuses = { a: 500 };
    await sentTimes(3);
    gateway.organization = organize({ allowFallback: false });
    await delayed(1_050);
    assert.deepEqual(await sentTimes(3), Array(3).fill('b: 200'));
  });

  it('is down for every endpoint of a refused credential, until the secret is replaced', async () => {
    const shared = () => ({
      ...organize(),
      endpoints: new Map(
        ['a', 'b', 'c'].map((id) => [
          id,
          endpoint(id, id === 'c' ? 'pc' : 'pa', `m-${id}`, { pacing: false }),
        ]),
      ),
    });
    gateway.organization = shared();
    statuses = { a: 401 };
    assert.deepEqual(await sentTimes(4), ['a a c: 200', 'a c: 200', 'c: 200', 'c: 200']);
    const replaced = shared();
    const key = credential('key-a', 'pa', { secret: new Secret('another') });
    gateway.organization = { ...replaced, credentials: new Map([...replaced.credentials, ['key-a', key]]) };
    statuses = {};
    assert.equal(await sent(), 'a: 200');
  });

  it('is not taken out by answers that are about the request', async () => {
    for (const status of [400, 404, 409, 422]) {
      statuses = { a: status };
      await sentTimes(2);
    }
    statuses = {};
    assert.equal(await sent(), 'a: 200');
    assert.equal(await sent(), 'a: 200');
  });

  /** The endpoints that this request was sent to, from its record. */
  async function sentAlone(): Promise<string[]> {
    const answered = await gateway.send(CHAT).answered;
    assert.equal(answered?.status, 200);
    const id = String(answered?.headers['x-request-id']);
    for (;;) {
      const record = gateway.records.find(({ requestId }) => requestId === id);
      if (record !== undefined) return record.attempts.map(({ endpointId }) => endpointId);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  const delayed = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
});
