import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { processSurroundings, type Surroundings } from '../kit/surroundings.ts';
import { resolveConnection, serverUrl, tokenFor } from './connection.ts';
import { writeContexts } from './contexts.ts';

describe('the server and token of a command', () => {
  const home = mkdtempSync(join(tmpdir(), 'relay-connection-'));
  const surroundings = (env: Surroundings['env'] = {}): Surroundings => ({
    ...processSurroundings(),
    env,
    home,
  });

  before(() =>
    writeContexts(surroundings(), {
      current: 'one',
      contexts: {
        one: { server: 'http://one.example', admin_token: 'admin-1' },
        two: { server: 'http://two.example', key: 'rly_2' },
      },
    }),
  );
  after(() => rmSync(home, { recursive: true }));

  it('uses the current context or the named one', async () => {
    const one = await resolveConnection(surroundings(), {});
    assert.deepEqual(one.tokens, { management: 'admin-1', inference: null });
    const two = await resolveConnection(surroundings({ RELAY_TOKEN: 'x', RELAY_SERVER: 'http://x' }), {
      context: 'two',
    });
    assert.equal(two.server, 'http://two.example');
    assert.deepEqual(two.tokens, { management: 'rly_2', inference: 'rly_2' });
  });

  it("never sends a context's token to another server", async () => {
    for (const found of [
      await resolveConnection(surroundings(), { server: 'http://evil.example' }),
      await resolveConnection(surroundings({ RELAY_SERVER: 'http://evil.example' }), {}),
      await resolveConnection(surroundings(), { server: 'http://two.example', context: 'one' }),
    ]) {
      assert.deepEqual(found.tokens, { management: null, inference: null });
    }
  });

  it("sends a deployment's tokens only to the server named next to them", async () => {
    const env = { RELAY_ADMIN_TOKEN: 'a', RELAY_API_TOKEN: 'b' };
    const named = await resolveConnection(surroundings({ ...env, RELAY_SERVER: 'http://x.example' }), {});
    assert.deepEqual(named.tokens, { management: 'a', inference: 'b' });
    const unnamed = await resolveConnection(surroundings(env), {});
    assert.deepEqual(unnamed.tokens, { management: 'admin-1', inference: null });
  });

  it('prefers RELAY_TOKEN to the context', async () => {
    const { tokens } = await resolveConnection(surroundings({ RELAY_TOKEN: 'mine' }), {});
    assert.deepEqual(tokens, { management: 'mine', inference: 'mine' });
  });

  it('names the missing token', async () => {
    const one = await resolveConnection(surroundings(), {});
    assert.throws(() => tokenFor(one, 'inference'), {
      message: /No API token for context one/,
      exitCode: 3,
    });
  });

  it('accepts common forms of the URL', () => {
    assert.equal(serverUrl(' https://relay.example/v1/ '), 'https://relay.example');
    assert.equal(serverUrl('http://127.0.0.1:8080/relay/'), 'http://127.0.0.1:8080/relay');
    for (const wrong of ['localhost:80', 'ftp://x', '', 'http://u:p@x']) {
      assert.throws(() => serverUrl(wrong), { exitCode: 2 });
    }
  });
});
