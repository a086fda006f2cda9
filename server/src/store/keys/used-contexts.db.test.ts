import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type PrivateRedis, startRedis } from '@relay/testbed';
import { RelayError } from '../../domain/relay-error.ts';
import { type Clock, systemClock } from '../../kit/clock.ts';
import { silentLog } from '../fixtures/migrated-database.fixture.ts';
import { createRedis, type Redis } from '../redis/redis.ts';
import { createUsedContexts, type UsedContexts } from './used-contexts.ts';

const LIFE_MS = 60_000;

describe('used contexts', () => {
  let server: PrivateRedis;
  let redis: Redis;
  before(async () => {
    server = await startRedis();
    redis = createRedis({ url: server.url, clock: systemClock, log: silentLog, commandTimeoutMs: 100 });
    await redis.whenReady(60_000);
  });
  after(async () => {
    await redis.close();
    await server.remove();
  });

  const replica = (over: { clock?: Clock; rememberedMax?: number } = {}): UsedContexts =>
    createUsedContexts({ redis, clock: systemClock, lifeMs: LIFE_MS, ...over });

  it('lets one of many through, in one process and over several', async () => {
    const replicas = [replica(), replica(), replica()];
    const claims = Array.from({ length: 30 }, (_, index) => replicas[index % 3]?.claim('shared'));
    const firsts = (await Promise.all(claims)).filter((first) => first === true);
    assert.equal(firsts.length, 1);
    assert.equal(await replica().claim('other'), true);
  });

  it('forgets in Redis by itself, and not before the context is over everywhere', async () => {
    await replica().claim('timed');
    const leftMs = Number(await redis.run(['PTTL', 'relay:context:timed']));
    assert.ok(leftMs > LIFE_MS - 5_000 && leftMs <= LIFE_MS, `${leftMs} ms`);
  });

  it('remembers its own when Redis has lost them', async () => {
    const one = replica();
    await one.claim('lost');
    await redis.run(['FLUSHALL']);
    assert.equal(await one.claim('lost'), false);
  });

  it('remembers for the life of a context at least, and never more than its bound', async () => {
    let nowMs = 0;
    const one = replica({ clock: { nowMs: () => nowMs, monotonicMs: () => nowMs }, rememberedMax: 10 });
    await one.claim('early');
    await redis.run(['FLUSHALL']);
    nowMs = LIFE_MS;
    assert.equal(await one.claim('early'), false);
    nowMs = 3 * LIFE_MS;
    assert.equal(await one.claim('early'), true);
    for (let count = 0; count < 10; count += 1) await one.claim(`filling ${count}`);
    await redis.run(['FLUSHALL']);
    assert.equal(await one.claim('early'), true);
  });

  it('fails while Redis is unavailable, instead of accepting anything', async () => {
    server.pause();
    const claim = replica().claim('unknown');
    await assert.rejects(claim, (error) => error instanceof RelayError && error.code === 'store_unavailable');
    server.resume();
  });
});
