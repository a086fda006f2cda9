import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '../kit/clock.ts';
import { privateRedis } from '../store/fixtures/private-redis.fixture.ts';
import { prefixOfShard, usageStreamOf } from '../store/redis/shards.ts';
import { readBacklog } from './backlog.ts';
import { createStreamGroup } from './stream-group.ts';

describe('usage that no worker has written', () => {
  const redis = privateRedis();

  it('the backlog is what is in any stream and not written, and as old as the oldest of it', async () => {
    const clock = { ...systemClock, nowMs: () => 100_000 };
    const read = () => readBacklog({ redis: redis(), clock });
    assert.deepEqual(await read(), { entries: 0, taken: 0, lagMs: 0 });

    const prefixes = [prefixOfShard(1), prefixOfShard(1_007)];
    for (const prefix of prefixes) redis().shards.use(prefix);
    const [one = '', other = ''] = prefixes.map(usageStreamOf);
    await redis().run(['XADD', one, '60000-0', 'r', '{}']);
    await redis().run(['XADD', one, '70000-0', 'r', '{}']);
    await redis().run(['XADD', other, '40000-5', 'r', '{}']);
    assert.deepEqual(await read(), { entries: 3, taken: 0, lagMs: 60_000 }, 'before any worker has come');

    const group = createStreamGroup(redis(), other, 'worker');
    const entries = await group.readNew(10);
    assert.deepEqual(await read(), { entries: 3, taken: 1, lagMs: 60_000 });
    await group.acknowledge(entries);
    assert.deepEqual(await read(), { entries: 2, taken: 0, lagMs: 40_000 });
  });
});
