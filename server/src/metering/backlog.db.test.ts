import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type PrivateRedis, startRedis } from '@relay/testbed';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { createRedis, type Redis } from '../store/redis/redis.ts';
import { prefixOfShard, usageStreamOf } from '../store/redis/shards.ts';
import { readBacklog } from './backlog.ts';
import { createStreamGroup } from './stream-group.ts';

let server: PrivateRedis;
let redis: Redis;

before(async () => {
  server = await startRedis();
  redis = createRedis({ url: server.url, clock: systemClock, log: createLog('silent') });
  await redis.whenReady(5_000);
});
after(async () => {
  await redis.close();
  await server.remove();
});

it('the backlog is what is in any stream and not written, and as old as the oldest of it', async () => {
  const clock = { ...systemClock, nowMs: () => 100_000 };
  const read = () => readBacklog({ redis, clock });
  assert.deepEqual(await read(), { entries: 0, taken: 0, lagMs: 0 });

  const [one, other] = [usageStreamOf(prefixOfShard(1)), usageStreamOf(prefixOfShard(7))];
  await redis.run(['XADD', one, '60000-0', 'r', '{}']);
  await redis.run(['XADD', one, '70000-0', 'r', '{}']);
  await redis.run(['XADD', other, '40000-5', 'r', '{}']);
  assert.deepEqual(await read(), { entries: 3, taken: 0, lagMs: 60_000 }, 'before any worker has come');

  const group = createStreamGroup(redis, other, 'worker');
  const entries = await group.readNew(10);
  assert.deepEqual(await read(), { entries: 3, taken: 1, lagMs: 60_000 });
  await group.acknowledge(entries);
  assert.deepEqual(await read(), { entries: 2, taken: 0, lagMs: 40_000 });
});
