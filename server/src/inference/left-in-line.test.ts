import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import { type Gateway, type Listening, startGateway, startListening } from './gateway.fixture.ts';

const ROUNDS = 60;

describe('while a request waits', () => {
  let upstream: Listening;
  let gateway: Gateway;
  /** Answers the first request of a round; the others are answered immediately. */
  let answerFirst: (() => void) | null = null;

  before(async () => {
    upstream = await startListening();
    upstream.answer = (response) => {
      const answer = () => void response.end('{"choices":[]}');
      if (answerFirst === null) answerFirst = answer;
      else answer();
    };
    gateway = await startGateway(
      snapshot({
        providers: [provider('p', { baseUrl: `${upstream.url}/v1`, authMode: 'none' })],
        endpoints: [endpoint('e', 'p', 'm', { maxConcurrency: 1 })],
        lanes: [lane('chat', { defaultMaxWaitMs: 20_000 })],
        memberships: [member('chat', 'e', 0)],
      }),
    );
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  const send = () => gateway.send({ model: 'chat', messages: [{ role: 'user', content: 'hi' }] });

  async function until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise((resolve) => setImmediate(resolve));
  }

  it('its key may be revoked: it is not sent, and gives back its turn', async () => {
    answerFirst = null;
    const known = gateway.records.length;
    const heard = upstream.heard.length;
    const first = send();
    await until(() => answerFirst !== null);
    const waits = send();
    await until(() => gateway.desk.counts().waiting === 1);
    gateway.revoked = true;
    // In a function, because the compiler believes that it is still null.
    const answerNow = () => answerFirst?.();
    answerNow();
    assert.equal((await first.answered)?.status, 200);
    const answer = await waits.answered;
    gateway.revoked = false;
    assert.equal(answer?.status, 401);
    assert.match(answer.text, /"code":"revoked_api_key"/);
    await until(() => gateway.records.length === known + 2);
    assert.equal(upstream.heard.length, heard + 1);
    const record = gateway.records.find(({ status }) => status === 401);
    assert.deepEqual([record?.cause, record?.attempts, record?.usageSource], ['revoked_api_key', [], 'none']);
    assert.deepEqual(gateway.desk.counts(), { waiting: 0, dispatched: 0 });
    assert.equal(await gateway.usage('endpoint:e:max_concurrency', 'concurrency'), 0);
  });

  it('its client may leave, which leaves no unit held and no place in line, however close its release is', async (test) => {
    const ends: Record<string, number> = {};
    for (let round = 0; round < ROUNDS; round += 1) {
      answerFirst = null;
      const known = gateway.records.length;
      send();
      await until(() => answerFirst !== null);
      const leaving = send();
      await until(() => gateway.desk.counts().waiting === 1);
      const last = send();
      await until(() => gateway.desk.counts().waiting === 2);
      // The unit that the answer gives back goes to the one that leaves, or to the one behind it.
      const moves = [() => answerFirst?.(), () => leaving.leave()];
      if (round % 2 === 0) moves.reverse();
      moves[0]?.();
      for (let turn = 0; turn < round % 7; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      moves[1]?.();
      assert.equal((await last.answered)?.status, 200);
      await until(() => gateway.records.length === known + 3);
      assert.deepEqual(gateway.desk.counts(), { waiting: 0, dispatched: 0 });
      assert.equal(await gateway.usage('endpoint:e:max_concurrency', 'concurrency'), 0);
      const left = gateway.records.slice(known).filter(({ state }) => state === 'cancelled');
      const end = left.map(({ attempts }) => `${attempts.length} attempts`).join() || 'answered';
      ends[end] = (ends[end] ?? 0) + 1;
    }
    test.diagnostic(JSON.stringify(ends));
    assert.ok((ends['0 attempts'] ?? 0) > 0 && Object.keys(ends).length > 1, JSON.stringify(ends));
  });
});
