import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import {
  type Gateway,
  type Listening,
  startGateway,
  startListening,
  WAITING_PLACES,
} from './gateway.fixture.ts';

const LANES = ['a', 'b', 'c'];
/** An organization that is alone. */
const SHARE = WAITING_PLACES / 2;

describe('the places of requests that wait', () => {
  let upstream: Listening;
  let gateway: Gateway;
  const answers: (() => void)[] = [];

  before(async () => {
    upstream = await startListening();
    upstream.answer = (response) => void answers.push(() => response.end('{"choices":[]}'));
    gateway = await startGateway(
      snapshot({
        providers: [provider('p', { baseUrl: `${upstream.url}/v1`, authMode: 'none' })],
        endpoints: [endpoint('e', 'p', 'm', { maxConcurrency: 1 })],
        lanes: LANES.map((name) => lane(name, { defaultMaxWaitMs: 20_000 })),
        memberships: LANES.map((name) => member(name, 'e', 0)),
      }),
    );
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  const send = (model: string) => gateway.send({ model, messages: [{ role: 'user', content: 'hi' }] });

  async function until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise((resolve) => setImmediate(resolve));
  }

  it('are not all taken by one organization, whichever lanes and keys its requests use', async () => {
    const busy = [send('a')];
    await until(() => answers.length === 1);
    for (let count = 0; count < SHARE; count += 1) busy.push(send(count % 2 === 0 ? 'a' : 'b'));
    await until(() => gateway.desk.counts().waiting === SHARE);
    const refused = await send('c').answered;
    assert.equal(refused?.status, 429);
    assert.match(refused.text, /"code":"queue_full"/);
    assert.ok(Number(refused.headers['retry-after']) >= 1);

    gateway.callerOrganization = 'acme';
    const other = [send('a'), send('a')];
    await until(() => gateway.desk.counts().waiting === SHARE + 1);
    gateway.callerOrganization = 'org';
    const statuses: (number | undefined)[] = [];
    for (const { answered } of [...busy, ...other]) void answered.then((one) => statuses.push(one?.status));
    while (statuses.length < busy.length + other.length) {
      answers.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(new Set(statuses), new Set([200]));
    // What waited has given its place back.
    const again = send('c');
    await until(() => answers.length === 1);
    answers.shift()?.();
    assert.equal((await again.answered)?.status, 200);
  });
});
