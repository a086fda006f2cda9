import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as afterMs } from 'node:timers/promises';
import { type PrivateRedis, redisCall, selfSigned, startRedis } from '@relay/testbed';
import { systemClock as clock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { createRedis, type Redis } from '../store/redis/redis.ts';
import { demandRedisSettings } from './demand-redis-settings.ts';
import { EnvironmentError } from './environment.ts';

const log = createLog('silent');

describe('the settings of Redis at start', () => {
  let server: PrivateRedis;
  let redis: Redis;

  before(async () => {
    server = await startRedis();
    redis = createRedis({ url: server.url, clock, log, commandTimeoutMs: 5_000 });
    await redis.whenReady(60_000);
  });
  after(async () => {
    await redis.close();
    await server.remove();
  });

  async function persistenceSeenBy(reader: Redis): Promise<string | undefined> {
    const watched = await demandRedisSettings(reader, log);
    watched.stop();
    return watched.state()?.persistence;
  }

  for (const policy of ['allkeys-lru', 'allkeys-lfu', 'allkeys-random', 'volatile-ttl', 'volatile-lru']) {
    it(`refuse ${policy}, with the line to set`, async () => {
      await redisCall(server.port, 'CONFIG', 'SET', 'maxmemory-policy', policy);
      const refused = demandRedisSettings(redis, log);
      await assert.rejects(refused, (error) => {
        assert.ok(error instanceof EnvironmentError);
        assert.match(error.message, new RegExp(policy));
        assert.match(error.message, /`maxmemory-policy noeviction`/);
        return true;
      });
      await redisCall(server.port, 'CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    });
  }

  it('tell whether it keeps anything on disk', async () => {
    assert.equal(await persistenceSeenBy(redis), 'none');
    await redisCall(server.port, 'CONFIG', 'SET', 'save', '3600 1');
    assert.equal(await persistenceSeenBy(redis), 'snapshots');
    await redisCall(server.port, 'CONFIG', 'SET', 'appendonly', 'yes');
    assert.equal(await persistenceSeenBy(redis), 'append_only');
    await redisCall(server.port, 'CONFIG', 'SET', 'appendonly', 'no');
  });

  it('are read without CONFIG where a hosted Redis forbids it', async () => {
    await redisCall(server.port, 'ACL', 'SETUSER', 'guest', 'on', '>secret', '~*', '+@all', '-config');
    const url = server.url.replace('redis://', 'redis://guest:secret@');
    const guest = createRedis({ url, clock, log, commandTimeoutMs: 5_000 });
    try {
      assert.equal(await persistenceSeenBy(guest), 'unknown');
      await redisCall(server.port, 'CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
      await assert.rejects(demandRedisSettings(guest, log), EnvironmentError);
      await redisCall(server.port, 'CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    } finally {
      await guest.close();
    }
  });

  for (const [what, channel] of [
    ['the version before formats had a number', 'relay:wake:7-gateway'],
    ['a later version', 'relay:format:3'],
  ] as const) {
    it(`refuse a Redis that ${what} uses, until its last process has ended`, async () => {
      const other = createRedis({ url: server.url, clock, log, commandTimeoutMs: 5_000 });
      await other.subscribe(channel, () => undefined);
      const refusal = await demandRedisSettings(redis, log).then(
        () => null,
        (error: unknown) => error,
      );
      assert.ok(refusal instanceof EnvironmentError);
      assert.match(refusal.message, /Stop all of them, then start this version/);
      await other.close();
      await untilStarts(redis);
    });
  }

  it('accept other processes of this version', async () => {
    const other = createRedis({ url: server.url, clock, log, commandTimeoutMs: 5_000 });
    (await demandRedisSettings(other, log)).stop();
    (await demandRedisSettings(redis, log)).stop();
    await other.close();
  });
});

describe('addresses of Redis that cannot work', () => {
  async function refusalOf(url: string): Promise<string> {
    const redis = createRedis({ url, clock, log, commandTimeoutMs: 5_000, connectTimeoutMs: 20_000 });
    // A busy machine takes longer than a start waits.
    for (let waited = 0; redis.fault() === null && !redis.state().ready && waited < 200; waited += 1)
      await afterMs(50);
    try {
      (await demandRedisSettings(redis, log)).stop();
      return '';
    } catch (error) {
      assert.ok(error instanceof EnvironmentError, String(error));
      return error.message;
    } finally {
      await redis.close();
    }
  }

  it('are refused: a node of a cluster, several servers that are none, a replica, a wrong password', async () => {
    const [node, server, replica] = await Promise.all([
      startRedis({ cluster: true }),
      startRedis(),
      startRedis(),
    ]);
    try {
      await redisCall(replica.port, 'REPLICAOF', '127.0.0.1', String(server.port));
      assert.match(await refusalOf(node.url), /points to one node of a Redis cluster\. List several nodes/);
      assert.match(
        await refusalOf(`${server.url},${server.url}`),
        /this Redis is not a cluster\. List one server/,
      );
      assert.match(await refusalOf(replica.url), /is a replica, which accepts no writes/);
      await redisCall(server.port, 'CONFIG', 'SET', 'requirepass', 'right');
      assert.match(await refusalOf(server.url), /rejects the credentials: NOAUTH/);
      assert.match(
        await refusalOf(server.url.replace('//', '//:wrong@')),
        /rejects the credentials: WRONGPASS/,
      );
      assert.equal(await refusalOf(server.url.replace('//', '//:right@')), '');
    } finally {
      await Promise.all([node.remove(), server.remove(), replica.remove()]);
    }
  });

  it('are refused: a certificate of an unknown authority', async () => {
    const server = await startRedis({ tls: selfSigned() });
    try {
      assert.match(
        await refusalOf(server.tlsUrl ?? ''),
        /doesn’t trust Redis’s certificate: .*NODE_EXTRA_CA_CERTS/,
      );
    } finally {
      await server.remove();
    }
  });
});

/** Redis forgets a closed connection a moment later. */
async function untilStarts(redis: Redis): Promise<void> {
  const deadlineMs = Date.now() + 10_000;
  for (;;) {
    const watched = await demandRedisSettings(redis, log).catch((error: unknown) => {
      if (Date.now() > deadlineMs) throw error;
      return null;
    });
    if (watched !== null) return watched.stop();
  }
}
