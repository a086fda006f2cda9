import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type PrivateRedis, redisCall, startRedis } from '@relay/testbed';
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
    await redis.whenReady(5_000);
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
