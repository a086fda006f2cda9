import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { processSurroundings, type Surroundings } from '../kit/surroundings.ts';
import { resolveConnection } from './connection.ts';
import { writeContexts } from './contexts.ts';
import { findStarted, findStartedIn, forgetLocalServer, noteLocalServer } from './local-server.ts';

describe('a command without a login', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'relay-local-server-'));
  const directory = join(cwd, 'relay-data');
  const surroundings = (env: Surroundings['env'] = {}): Surroundings => ({
    ...processSurroundings(),
    env,
    cwd,
    home: join(cwd, 'home'),
  });
  const kept = { RELAY_ADMIN_TOKEN: 'kept-admin', RELAY_API_TOKEN: 'kept-api' };

  beforeEach(() => {
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory);
    writeFileSync(join(directory, 'secrets.json'), JSON.stringify(kept));
  });
  after(() => rmSync(cwd, { recursive: true }));

  it('finds the server of the data directory, and its tokens', async () => {
    await noteLocalServer(directory, 'http://127.0.0.1:9090');
    assert.deepEqual(await resolveConnection(surroundings(), {}), {
      server: 'http://127.0.0.1:9090',
      contextName: null,
      tokens: { management: 'kept-admin', inference: 'kept-api' },
    });
    assert.equal(statSync(join(directory, 'server.json')).mode & 0o777, 0o600);
  });

  it('prefers the tokens of the environment, as the server does', async () => {
    await noteLocalServer(directory, 'http://[::1]:9090');
    const found = await resolveConnection(surroundings({ RELAY_ADMIN_TOKEN: 'mine' }), {});
    assert.deepEqual(found.tokens, { management: 'mine', inference: 'kept-api' });
    const own = await resolveConnection(surroundings({ RELAY_TOKEN: 'rly_1' }), {});
    assert.deepEqual(own.tokens, { management: 'rly_1', inference: 'rly_1' });
  });

  it('sends no token to another machine because a file says so', async () => {
    for (const url of [
      'https://evil.example',
      'http://127.0.0.1.evil.example',
      'http://10.0.0.1:8080',
      'x',
    ]) {
      await noteLocalServer(directory, url);
      assert.equal(await findStarted(surroundings()), null, url);
    }
  });

  it('takes the usual port, or that of RELAY_HTTP_ADDR, when the environment has the tokens', async () => {
    const usual = await resolveConnection(surroundings({ RELAY_ADMIN_TOKEN: 'mine' }), {});
    assert.deepEqual(usual, {
      server: 'http://127.0.0.1:8080',
      contextName: null,
      tokens: { management: 'mine', inference: null },
    });
    const env = { RELAY_API_TOKEN: 'mine', RELAY_HTTP_ADDR: '0.0.0.0:9191' };
    assert.equal((await resolveConnection(surroundings(env), {})).server, 'http://127.0.0.1:9191');
  });

  it('sends the tokens of the environment to a loopback address only', async () => {
    const at = (RELAY_HTTP_ADDR: string) =>
      resolveConnection(surroundings({ RELAY_ADMIN_TOKEN: 'mine', RELAY_HTTP_ADDR }), {});
    for (const [listen, server] of [
      [':9191', 'http://127.0.0.1:9191'],
      ['[::]:9191', 'http://127.0.0.1:9191'],
      ['[::1]:9191', 'http://[::1]:9191'],
      ['localhost:9191', 'http://localhost:9191'],
    ] as const)
      assert.equal((await at(listen)).server, server, listen);
    for (const listen of ['10.0.0.1:9191', 'relay.example:9191', '127.0.0.1.evil.example:80', 'nowhere'])
      await assert.rejects(at(listen), /No server is set/, listen);
  });

  it('uses tokens of a chosen directory, never of the environment, on another address', async () => {
    assert.equal(await findStartedIn(directory), null);
    await noteLocalServer(directory, 'http://10.0.0.1:8080');
    assert.equal(await findStarted(surroundings({ RELAY_API_TOKEN: 'mine' })), null);
    assert.deepEqual(await findStartedIn(directory), {
      url: 'http://10.0.0.1:8080',
      adminToken: 'kept-admin',
      apiToken: 'kept-api',
    });
  });

  it('forgets a server that has stopped, but not the one that followed it', async () => {
    await noteLocalServer(directory, 'http://127.0.0.1:9090');
    await forgetLocalServer(directory, 'http://127.0.0.1:9191');
    assert.equal((await findStarted(surroundings()))?.url, 'http://127.0.0.1:9090');
    await forgetLocalServer(directory, 'http://127.0.0.1:9090');
    assert.equal(await findStarted(surroundings()), null);
    await forgetLocalServer(directory, 'http://127.0.0.1:9090');
  });

  it('does not replace a login context that is unknown', async () => {
    await noteLocalServer(directory, 'http://127.0.0.1:9090');
    const unknown = { message: /No login context is named "prod"/, exitCode: 4 };
    await assert.rejects(resolveConnection(surroundings(), { context: 'prod' }), unknown);
    await assert.rejects(resolveConnection(surroundings({ RELAY_CONTEXT: 'prod' }), {}), unknown);
    await writeContexts(surroundings(), { current: 'prod', contexts: {} });
    try {
      await assert.rejects(resolveConnection(surroundings(), {}), unknown);
      const named = await resolveConnection(surroundings(), { server: 'http://x.example' });
      assert.equal(named.server, 'http://x.example');
    } finally {
      await writeContexts(surroundings(), { current: null, contexts: {} });
    }
  });

  it('says what to do when there is none', async () => {
    await assert.rejects(resolveConnection(surroundings(), {}), /No server is set/);
  });
});
