import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { credential, endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import { systemClock } from '../kit/clock.ts';
import { Secret } from '../kit/secret.ts';
import { createTracer } from '../kit/tracing/tracer.ts';
import { type Gateway, type Listening, startGateway, startListening } from './gateway.fixture.ts';

const KEY = 'sk-live-Qm2PzL9vTrW4hx7';
const PROMPT = 'The patient Ada Lovelace has a fever.';
const ANSWER = JSON.stringify({ choices: [{ message: { content: 'Paracetamol' } }] });
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CLIENT_SPAN = 'b7ad6b7169203331';

describe('a traced request', () => {
  let upstream: Listening;
  let gateway: Gateway;
  let traces: Buffer[];

  beforeEach(async () => {
    traces = [];
    upstream = await startListening();
    upstream.answer = (response, { path }) => {
      response
        .writeHead(path.startsWith('/a') ? 503 : 200, { 'content-type': 'application/json' })
        .end(ANSWER);
    };
    const sink = { take: (spans: readonly Buffer[]) => void traces.push(Buffer.concat(spans)) };
    const tracer = createTracer({ sink, clock: systemClock, sampleRatio: 0, random: Math.random });
    const names = ['a', 'b'];
    const organization = snapshot({
      providers: names.map((id) => provider(`p${id}`, { baseUrl: `${upstream.url}/${id}` })),
      credentials: names.map((id) => credential(`key-${id}`, `p${id}`, { secret: new Secret(KEY) })),
      endpoints: names.map((id) => endpoint(id, `p${id}`, `m-${id}`, { pacing: false })),
      lanes: [lane('both', {})],
      memberships: [member('both', 'a', 1), member('both', 'b', 2)],
    });
    gateway = await startGateway(organization, tracer);
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  const send = (flags: string) =>
    gateway.send({ model: 'both', messages: [{ role: 'user', content: PROMPT }] }, undefined, {
      traceparent: `00-${TRACE}-${CLIENT_SPAN}-${flags}`,
      tracestate: 'tenant=acme',
    }).answered;
  const sentOn = () => upstream.heard.map(({ headers }) => headers['traceparent']);

  it('gives each attempt a span of its own in the client’s trace, and the record its id', async () => {
    assert.equal((await send('01'))?.status, 200);
    const [first, second] = sentOn();
    for (const header of [first, second])
      assert.match(String(header), new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
    assert.notEqual(first, second);
    assert.ok(!String(first).includes(CLIENT_SPAN));
    assert.equal((await gateway.nthRecord(1)).traceId, TRACE);
    assert.equal(traces.length, 1);
  });

  it('tells providers nothing of the client’s tracing but the ids', async () => {
    await send('01');
    for (const { headers } of upstream.heard) assert.equal(headers['tracestate'], undefined);
  });

  it('has every step, and nothing of the prompt, the response or the key', async () => {
    await send('01');
    const text = traces[0]?.toString('latin1') ?? '';
    for (const name of [
      'authenticate',
      'receive',
      'route',
      'admit',
      'chat m-a',
      'chat m-b',
      'respond',
      'settle',
    ])
      assert.ok(text.includes(name), name);
    assert.ok(text.includes((await gateway.nthRecord(1)).requestId));
    for (const content of ['Ada', 'fever', 'Paracetamol', 'Qm2PzL9v'])
      assert.ok(!text.includes(content), content);
  });

  it('is not made when the client does not sample, whose header then passes unchanged', async () => {
    await send('00');
    assert.deepEqual(sentOn(), Array(2).fill(`00-${TRACE}-${CLIENT_SPAN}-00`));
    assert.equal((await gateway.nthRecord(1)).traceId, undefined);
    assert.equal(traces.length, 0);
  });

  it('is not made for a key that is not valid', async () => {
    gateway.revoked = true;
    assert.equal((await send('01'))?.status, 401);
    assert.equal(traces.length, 0);
  });
});
