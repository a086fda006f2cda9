import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type FreshDatabase, freshDatabase, type PrivateRedis, startRedis } from '@relay/testbed';
import { readEnvironment } from './environment.ts';
import type { RoleName } from './roles.ts';
import { serve } from './serve.ts';

const LAME_DUCK_MS = 1_500;

describe('a process that is told to stop', () => {
  let database: FreshDatabase;
  let redis: PrivateRedis;
  let spool: string;
  const [apiToken, adminToken] = [1, 2].map(() => randomBytes(24).toString('base64url'));
  const masterKey = randomBytes(32).toString('base64');

  before(async () => {
    [database, redis] = await Promise.all([freshDatabase(), startRedis()]);
    spool = await mkdtemp(join(tmpdir(), 'relay-draining-'));
  });
  after(async () => {
    await redis.remove();
    await database.drop();
    await rm(spool, { recursive: true, force: true });
  });

  async function start(role: RoleName, lameDuckMs: number) {
    const environment = readEnvironment({
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      RELAY_HTTP_ADDR: '127.0.0.1:0',
      RELAY_API_TOKEN: apiToken,
      RELAY_ADMIN_TOKEN: adminToken,
      RELAY_MASTER_KEY: masterKey,
      RELAY_SPOOL_DIR: spool,
      RELAY_LOG_LEVEL: 'silent',
      RELAY_LAME_DUCK_MS: String(lameDuckMs),
    });
    return serve(environment, role);
  }

  it('is not ready any more, and serves for the lame duck time, on connections that it asks to close', async () => {
    const server = await start('all', LAME_DUCK_MS);
    const models = () =>
      fetch(`${server.address}/v1/models`, { headers: { authorization: `Bearer ${apiToken}` } });
    const before = await models();
    assert.deepEqual([before.status, before.headers.get('connection')], [200, 'keep-alive']);
    const startMs = performance.now();
    const stopped = server.stop();
    const probe = await fetch(`${server.address}/readyz`);
    const served = await models();
    const managed = await fetch(`${server.address}/api/relay/capabilities`);
    assert.ok(performance.now() - startMs < LAME_DUCK_MS, 'this machine is too slow for the test');
    assert.equal(probe.status, 503);
    assert.deepEqual([served.status, served.headers.get('connection')], [200, 'close']);
    assert.equal(managed.status, 401);
    assert.deepEqual(await stopped, { cut: 0 });
    assert.ok(performance.now() - startMs >= LAME_DUCK_MS - 5);
  });

  it('does not wait for clients that it does not have', async () => {
    const worker = await start('worker', 60_000);
    const startMs = performance.now();
    await worker.stop();
    assert.ok(performance.now() - startMs < 30_000);
  });
});
