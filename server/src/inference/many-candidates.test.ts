import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import { type Gateway, type Listening, startGateway, startListening } from './gateway.fixture.ts';

const COUNT = 40;
const ids = Array.from({ length: COUNT }, (_, index) => `e${index}`);

describe('a lane with more candidates than one call of the engine takes', () => {
  let upstream: Listening;
  let gateway: Gateway;
  /** Answers the requests that are held, by upstream model. */
  const held = new Map<string, () => void>();

  before(async () => {
    upstream = await startListening();
    upstream.answer = (response, { body }) => {
      held.set(String(body['model']), () => response.end('{"choices":[]}'));
    };
    gateway = await startGateway(
      snapshot({
        providers: [provider('p', { baseUrl: `${upstream.url}/v1`, authMode: 'none' })],
        endpoints: ids.map((id) => endpoint(id, 'p', id, { maxConcurrency: 1, pacing: false })),
        lanes: [
          lane('soonest', { defaultMaxWaitMs: 20_000, selection: 'soonest' }),
          lane('preferred', { defaultMaxWaitMs: 20_000, selection: 'preferred' }),
          lane('impatient', { defaultMaxWaitMs: 0, selection: 'soonest' }),
        ],
        memberships: ['soonest', 'preferred', 'impatient'].flatMap((name) =>
          ids.map((id, index) => member(name, id, index)),
        ),
      }),
    );
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  const send = (model: string) =>
    gateway.send({ model, messages: [{ role: 'user', content: 'hi' }] }).answered;

  async function until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise((resolve) => setImmediate(resolve));
  }

  it('uses every candidate, asks for a bounded number in each call, and then waits or is refused', async () => {
    const answers = ids.map(() => send('soonest'));
    await until(() => held.size === COUNT);
    assert.deepEqual([...held.keys()].sort(), [...ids].sort());

    const refused = await send('impatient');
    assert.equal(refused?.status, 429);
    const waiting = [send('soonest'), send('preferred')];
    await until(() => gateway.desk.counts().waiting === 2);

    // Both may wait for the same one.
    upstream.answer = (response) => response.end('{"choices":[]}');
    for (const answer of held.values()) answer();
    assert.deepEqual(new Set((await Promise.all(answers)).map((each) => each?.status)), new Set([200]));
    assert.deepEqual(
      (await Promise.all(waiting)).map((each) => each?.status),
      [200, 200],
    );
    assert.ok(gateway.asked.every(({ candidates }) => candidates.length <= 16));
    assert.deepEqual(gateway.desk.counts(), { waiting: 0, dispatched: 0 });
  });
});
