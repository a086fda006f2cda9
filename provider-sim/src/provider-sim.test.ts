import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { startProviderSim } from './provider-sim.ts';
import { operations, type Seen, send, sendFault } from './raw-client.fixture.ts';
import { contentOfStream } from './read-sse.ts';
import type { ProviderSim } from './simulator.ts';

const { path, body } = operations.chat;

describe('a played model', () => {
  it('answers with its frames or its whole text, which faults act on, and leaves the rest as it is', async () => {
    const frames = ['data: {"played":1}\n\n', 'data: [DONE]\n\n'];
    const sim = await startProviderSim({
      play: ({ model, stream }, bytes) =>
        model === 'sim-chat' && bytes.includes('played')
          ? stream
            ? frames
            : { bodyBase64: Buffer.from('{"played":1}').toString('base64') }
          : null,
    });
    try {
      const ask = { ...body, model: 'sim-chat', messages: [{ role: 'user', content: 'played' }] };
      const streamed = { ...ask, stream: true };
      assert.equal((await send(sim, path, streamed)).text, frames.join(''));
      assert.equal((await send(sim, path, ask)).text, '{"played":1}');
      assert.equal(sim.log.at(-1)?.outcome, 'completed');
      const other = { ...streamed, model: 'sim-chat-b' };
      assert.ok((await send(sim, path, other)).text.includes('chat.completion.chunk'));
      sim.script({ fault: { cutAfterFrames: 1 } }, { fault: { status: 429 } });
      await send(sim, path, streamed);
      assert.deepEqual([sim.log.at(-1)?.outcome, sim.log.at(-1)?.framesSent], ['cut', 1]);
      assert.equal((await send(sim, path, streamed)).status, 429);
    } finally {
      await sim.close();
    }
  });
});

describe('scripts, log and counts', () => {
  let sim: ProviderSim;
  before(async () => {
    sim = await startProviderSim();
  });
  after(() => sim.close());
  beforeEach(() => sim.reset());

  const status = async (given: Promise<Seen>): Promise<number> => (await given).status;
  const chat = (key = 'test-key', model = 'sim-chat'): Promise<number> =>
    status(send(sim, path, { ...body, model }, { headers: { authorization: `Bearer ${key}` } }));

  it('rules are used up in order, then the answer is plain again', async () => {
    sim.script({ fault: { status: 500 } }, { fault: { status: 503 } });
    assert.deepEqual([await chat(), await chat(), await chat()], [500, 503, 200]);
  });

  it('a rule fires from its nth match on, for as many as it counts', async () => {
    sim.script({ match: { nth: 2, count: 2 }, fault: { status: 500 } });
    assert.deepEqual([await chat(), await chat(), await chat(), await chat()], [200, 500, 500, 200]);
  });

  it('a rule for every nth request fires for those alone', async () => {
    sim.script({ match: { every: 3 }, fault: { status: 429 }, persistent: true });
    const seen: number[] = [];
    for (let index = 0; index < 7; index += 1) seen.push(await chat());
    assert.deepEqual(seen, [200, 200, 429, 200, 200, 429, 200]);
  });

  it('a persistent rule stays until reset', async () => {
    sim.script({ fault: { status: 500 }, persistent: true });
    assert.deepEqual([await chat(), await chat(), await chat()], [500, 500, 500]);
    sim.reset();
    assert.equal(await chat(), 200);
  });

  it('a rule leaves requests alone that it does not match', async () => {
    sim.script({ match: { key: 'a' }, fault: { status: 500 } });
    sim.script({ match: { model: 'sim-chat-b' }, fault: { status: 502 } });
    sim.script({ match: { path: 'models' }, fault: { status: 503 } });
    assert.deepEqual([await chat('b'), await chat('a'), await chat('a')], [200, 500, 200]);
    assert.equal(await chat('b', 'sim-chat-b'), 502);
    assert.equal(await status(send(sim, '/v1/models', null, { method: 'GET' })), 503);
  });

  it('the body and the script add up, the body winning', async () => {
    sim.script({ fault: { status: 500, retryAfter: 3 } });
    const seen = await sendFault(sim, 'chat', { status: 429 });
    assert.equal(seen.status, 429);
    assert.equal(seen.headers['retry-after'], '3');
  });

  it('an early rule answers without having read the body', async () => {
    sim.script({ fault: { early: true, status: 429 } }, { fault: { resetOnAccept: true } });
    assert.equal((await send(sim, path, body)).status, 429);
    assert.equal(sim.log[0]?.bodyBytes, 0);
    assert.equal((await send(sim, path, body)).error, 'ECONNRESET');
  });

  it('a misspelt script is refused', () => {
    assert.throws(() => sim.script({ fault: { explode: 1 } as never }), /Unknown fault/);
    assert.throws(() => sim.script({ match: { url: 'x' } as never, fault: {} }), /Unknown match/);
    assert.throws(() => sim.script({ fault: {}, times: 1 } as never), /Unknown script rule/);
  });

  it('the log keeps the bytes and the header list as they came', async () => {
    const odd = '{ "model":"sim-chat","x":1.0, "x":2e400,"messages":[{"role":"user","content":"\\u0041"}]}\n';
    await send(sim, `${path}?a=1`, odd);
    const [entry] = sim.log;
    assert.equal(entry?.body?.toString(), odd);
    assert.equal(entry?.query, 'a=1');
    assert.ok(entry?.rawHeaders.includes('Bearer test-key'));
    assert.equal(entry?.receivedAtMs === 0, false);
  });

  it('counts are kept per key and add up', async () => {
    await chat('a');
    await chat('a');
    await chat('b');
    await sendFault(sim, 'chat', { status: 500 });
    const [a, b, total] = [sim.counts('a'), sim.counts('b'), sim.counts()];
    assert.equal(a.completed, 2);
    assert.equal(a.promptTokens, 2 * b.promptTokens);
    assert.equal(total.requests, 4);
    assert.equal(total.completed, 3);
    assert.equal(total.faultAnswered, 1);
    assert.equal(total.completionTokens, a.completionTokens + b.completionTokens);
    assert.equal(total.reportedCompletionTokens, total.completionTokens);
  });

  it('the same request gets the same bytes, here and in another simulator with the same seed', async () => {
    const twin = await startProviderSim();
    const other = await startProviderSim({ seed: 2 });
    const first = await send(sim, path, body);
    assert.deepEqual((await send(sim, path, body)).body, first.body);
    assert.deepEqual((await send(twin, path, body)).body, first.body);
    assert.notDeepEqual((await send(other, path, body)).body, first.body);
    await Promise.all([twin.close(), other.close()]);
  });

  it('a hundred streams at once each get all of their own frames', async () => {
    const streams = Array.from({ length: 100 }, async (_, index) => {
      const seen = await sendFault(sim, 'chat', { frames: 50, tag: `s${index}` }, { stream: true });
      return contentOfStream(seen.text).split(`<s${index}:`).length - 1;
    });
    assert.deepEqual(await Promise.all(streams), Array(100).fill(50));
    assert.equal(sim.counts().completionTokens, 5000);
  });

  it('a refused connection is refused by the system, and accepted again later', async () => {
    await sim.refuseConnections();
    assert.equal((await send(sim, path, body)).error, 'ECONNREFUSED');
    await sim.acceptConnections();
    assert.equal(await chat(), 200);
  });

  it('waiting for a request that never comes ends with an error', async () => {
    await assert.rejects(
      sim.waitFor(() => false, { timeoutMs: 5 }),
      /No request matched/,
    );
  });
});

describe('bounds', () => {
  it('the log and the bodies it holds are bounded', async () => {
    const sim = await startProviderSim({ logEntriesMax: 4, logBodyBytesMax: 300 });
    for (let sent = 0; sent < 20; sent += 1) await send(sim, path, body);
    assert.ok(sim.log.length <= 8);
    assert.equal(sim.log.at(-1)?.id, 20);
    const bytes = sim.log.reduce((sum, entry) => sum + (entry.body?.length ?? 0), 0);
    assert.ok(bytes > 0 && bytes <= 300, `${bytes} bytes`);
    assert.equal(sim.counts().completed, 20);
    await sim.close();
  });

  it('bodies can be kept as hashes', async () => {
    const sim = await startProviderSim({ bodies: 'hash' });
    await send(sim, path, body);
    const hash = createHash('sha256').update(JSON.stringify(body)).digest('hex');
    assert.equal(sim.log[0]?.bodySha256, hash);
    assert.equal(sim.log[0]?.body, null);
    await sim.close();
  });

  it('closing settles what is still open', async () => {
    const sim = await startProviderSim();
    const waiting = sendFault(sim, 'chat', { stallBeforeHeaders: true });
    const entry = await sim.waitFor((each) => each.fault !== null);
    await sim.close();
    assert.equal((await waiting).status, 0);
    assert.equal(entry.outcome, 'sim_closed');
  });

  it('a reader that stops reading stops the writer', async () => {
    const sim = await startProviderSim();
    const abort = new AbortController();
    const response = await fetch(`${sim.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer test-key', 'content-type': 'application/json' },
      body: JSON.stringify({
        ...body,
        stream: true,
        sim: { frames: 100_000, frameBytes: 10_000, coalesce: true },
      }),
      signal: abort.signal,
    });
    assert.equal(response.status, 200);
    let before = -1;
    // Two looks with the same figure: the buffers between the two ends are full.
    while (sim.log[0]?.bytesSent !== before) {
      before = sim.log[0]?.bytesSent ?? 0;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    assert.ok(before < 100_000_000, `${before} bytes were written to nobody`);
    abort.abort();
    const entry = await sim.waitFor((each) => each.outcome === 'aborted_by_client');
    assert.ok(entry.framesSent < 100_000);
    assert.equal(sim.openStreams(), 0);
    await sim.close();
  });
});
