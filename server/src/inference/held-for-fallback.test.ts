import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { endpoint, lane, member, provider, snapshot } from '../domain/snapshot.fixture.ts';
import { type Gateway, type Listening, startGateway, startListening } from './gateway.fixture.ts';
import { DONE, delta, ROLE } from './respond/stream.fixture.ts';

const CONTENT = delta({ content: 'yes' });
/** How long the provider sends no content before it fails: longer than Relay holds any stream without a reason. */
const SILENT_MS = 200;

describe('a stream without content', () => {
  let upstream: Listening;
  let gateway: Gateway;
  const asked = () => upstream.heard.map(({ path }) => path.split('/')[1]).join('');

  beforeEach(async () => {
    upstream = await startListening();
    upstream.answer = (response, { path }) => answer(response, path.split('/')[1] ?? '');
    gateway = await startGateway(organize());
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  /** `silent` says nothing and fails, `failing` fails immediately, `good` answers. */
  function answer(response: ServerResponse, name: string): void {
    if (name === 'failing') {
      response.writeHead(500).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(ROLE);
    if (name === 'good') response.end(CONTENT + DONE);
    else setTimeout(() => response.destroy(), SILENT_MS);
  }

  function organize(over: Parameters<typeof lane>[1] = {}) {
    const names = ['silent', 'failing', 'good'];
    return snapshot({
      providers: names.map((id) =>
        provider(`p${id}`, { baseUrl: `${upstream.url}/${id}`, authMode: 'none' }),
      ),
      endpoints: names.map((id) => endpoint(id, `p${id}`, `m-${id}`, { pacing: false })),
      lanes: ['followed', 'alone', 'last'].map((id) => lane(id, { holdMs: 2_000, ...over })),
      memberships: [
        member('followed', 'silent', 1),
        member('followed', 'good', 2),
        member('alone', 'silent', 1),
        member('last', 'failing', 1),
        member('last', 'silent', 2),
      ],
    });
  }

  const send = async (model: string) => {
    const messages = [{ role: 'user', content: 'Hello?' }];
    const answered = await gateway.send({ model, messages, stream: true }).answered;
    assert.ok(answered);
    return { ...answered, record: await gateway.nthRecord(1) };
  };

  it('is held while another candidate is left, which can then replace it', async () => {
    const { status, text, record } = await send('followed');
    assert.deepEqual([status, text, asked()], [200, ROLE + CONTENT + DONE, 'silentgood']);
    assert.equal(record.state, 'completed');
  });

  for (const [what, model, over, attempts] of [
    ['the lane holds none', 'followed', { holdMs: 0 }, 1],
    ['the lane allows no fallback', 'followed', { allowFallback: false }, 1],
    ['there is no other candidate', 'alone', {}, 1],
    ['all other candidates have failed', 'last', {}, 2],
  ] as const)
    it(`is not held where ${what}: its failure is an error frame`, async () => {
      gateway.organization = organize(over);
      const { status, text, record } = await send(model);
      assert.equal(status, 200);
      assert.ok(text.startsWith(`${ROLE}data: {"error":`), text);
      assert.match(text, /"code":"stream_interrupted"/);
      assert.deepEqual([record.attempts.length, record.state, record.ttftMs], [attempts, 'failed', null]);
    });
});
