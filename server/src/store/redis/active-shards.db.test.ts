import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { type PrivateRedis, startRedis } from '@relay/testbed';
import { systemClock } from '../../kit/clock.ts';
import { createLog } from '../../kit/log.ts';
import { createRedis, type Redis } from './redis.ts';
import { prefixOfShard } from './shards.ts';

const [ONE, OTHER] = [prefixOfShard(3), prefixOfShard(1_003)];

describe('the index of shards in use', () => {
  let server: PrivateRedis;
  let gateway: Redis;
  let worker: Redis;

  before(async () => {
    server = await startRedis();
    const connect = () =>
      createRedis({
        url: server.url,
        clock: systemClock,
        log: createLog('silent'),
        commandTimeoutMs: 10_000,
      });
    [gateway, worker] = [connect(), connect()];
    await Promise.all([gateway.whenReady(60_000), worker.whenReady(60_000)]);
  });
  afterEach(async () => {
    await worker.run(['FLUSHALL']);
  });
  after(async () => {
    await Promise.all([gateway.close(), worker.close()]);
    await server.remove();
  });

  async function commands(): Promise<number> {
    const info = String(await worker.run(['INFO', 'commandstats']));
    return Number(/cmdstat_eval:calls=(\d+)/.exec(info)?.[1] ?? 0);
  }

  it('has a shard before the command that uses it has run, for every process', async () => {
    gateway.shards.use(ONE);
    await gateway.run(['SET', `${ONE}lease:1`, '']);
    assert.deepEqual(await worker.shards.list(), [ONE]);
  });

  it('costs one command for any number of uses', async () => {
    const before = await commands();
    for (let count = 0; count < 1_000; count += 1) gateway.shards.use(OTHER);
    await gateway.run(['PING']);
    assert.equal((await commands()) - before, 1);
  });

  it('forgets a shard that was not used for two minutes', async () => {
    const nowS = Math.floor(Date.now() / 1_000);
    await worker.run(['ZADD', 'relay:shards', String(nowS - 130), ONE, String(nowS - 100), OTHER]);
    assert.deepEqual(await worker.shards.list(), [OTHER]);
    assert.equal(await worker.run(['ZCARD', 'relay:shards']), 1);
  });

  it('gets a shard that could not be noted, as soon as Redis is back', async () => {
    const prefix = prefixOfShard(77);
    await server.kill();
    gateway.shards.use(prefix);
    await server.start();
    await worker.whenReady(60_000);
    const endMs = performance.now() + 10_000;
    while (!(await worker.shards.list()).includes(prefix)) {
      assert.ok(performance.now() < endMs, 'the shard is not noted');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });

  it('is given the shards that this process uses when Redis came back empty', async () => {
    const prefix = prefixOfShard(500);
    gateway.shards.use(prefix);
    await gateway.run(['PING']);
    await worker.run(['FLUSHALL']);
    assert.ok((await gateway.shards.list()).includes(prefix));
    await gateway.run(['PING']);
    assert.ok((await worker.shards.list()).includes(prefix));
  });
});
