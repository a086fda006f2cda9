import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { privateRedis } from '../store/fixtures/private-redis.fixture.ts';
import { prefixOfShard, usageStreamOf } from '../store/redis/shards.ts';
import { startShardPatrol } from './shard-patrol.ts';

describe('the shard patrol', () => {
  const redis = privateRedis();

  it('finds usage and leases of shards that no process has noted, and only these', async () => {
    const [usage, leases, idle] = [prefixOfShard(0), prefixOfShard(1_023), prefixOfShard(512)];
    await redis().run(['XADD', usageStreamOf(usage), '*', 'r', '{}']);
    await redis().run(['ZADD', `${leases}expiry`, '1', 'a request']);
    await redis().run(['XGROUP', 'CREATE', usageStreamOf(idle), 'ledger', '0', 'MKSTREAM']);
    assert.deepEqual(await redis().shards.list(), []);
    const patrol = startShardPatrol({ redis: redis() });
    await patrol.firstRound;
    await patrol.stop();
    assert.deepEqual((await redis().shards.list()).toSorted(), [usage, leases].toSorted());
  });
});
