import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import type { OrganizationSnapshot } from '../domain/snapshot.ts';
import { type Gateway, type Listening, startGateway, startListening } from './gateway.fixture.ts';

describe('a request whose endpoint is taken away while it waits', () => {
  let upstream: Listening;
  let gateway: Gateway;
  /** Answers the first request; the others are answered immediately. */
  let answerFirst: (() => void) | null;
  const asked = () => upstream.heard.map(({ path }) => path.split('/')[1]).join('');

  beforeEach(async () => {
    answerFirst = null;
    upstream = await startListening();
    upstream.answer = (response) => {
      const answer = () => void response.end('{"choices":[]}');
      if (answerFirst === null) answerFirst = answer;
      else answer();
    };
    gateway = await startGateway(organize(['a'], 1));
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  function organize(members: readonly string[], version: number, laneEnabled = true): OrganizationSnapshot {
    const names = ['a', 'b'];
    return {
      ...snapshot({
        providers: names.map((id) =>
          provider(`p${id}`, { authMode: 'none', baseUrl: `${upstream.url}/${id}` }),
        ),
        endpoints: names.map((id) => endpoint(id, `p${id}`, `m-${id}`, { maxConcurrency: 1 })),
        lanes: laneEnabled ? [lane('chat', { defaultMaxWaitMs: 20_000 })] : [],
        memberships: laneEnabled ? members.map((id, rank) => member('chat', id, rank)) : [],
      }),
      version,
    };
  }

  /** The second request waits for the first, and then `newest` is what the gateway knows. */
  async function takeAway(newest: OrganizationSnapshot) {
    const send = () => gateway.send({ model: 'chat', messages: [{ role: 'user', content: 'hi' }] });
    const first = send();
    while (answerFirst === null) await new Promise((resolve) => setImmediate(resolve));
    const second = send();
    while (gateway.desk.counts().waiting === 0) await new Promise((resolve) => setImmediate(resolve));
    gateway.newest = newest;
    answerFirst();
    const answer = await second.answered;
    assert.equal((await first.answered)?.status, 200);
    assert.ok(answer);
    await gateway.nthRecord(2);
    assert.deepEqual(gateway.desk.counts(), { waiting: 0, dispatched: 0 });
    for (const id of ['a', 'b'])
      assert.equal(await gateway.usage(`endpoint:${id}:max_concurrency`, 'concurrency'), 0);
    return answer;
  }

  it('goes to another one of its lane', async () => {
    assert.equal((await takeAway(organize(['b'], 2))).status, 200);
    assert.equal(asked(), 'ab');
  });

  it('goes where it waited for if only something else has changed', async () => {
    assert.equal((await takeAway(organize(['b', 'a'], 2))).status, 200);
    assert.equal(asked(), 'aa');
  });

  for (const [what, newest, code] of [
    ['nothing is left in its lane', () => organize([], 2), 'no_route'],
    ['its lane is disabled', () => organize([], 2, false), 'model_not_found'],
  ] as const) {
    it(`is refused when ${what}`, async () => {
      const { status, text } = await takeAway(newest());
      assert.equal(status, 400);
      assert.match(text, new RegExp(`"${code}"`));
      assert.equal(asked(), 'a');
    });
  }
});
