import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '../kit/clock.ts';
import { privateRedis } from '../store/fixtures/private-redis.fixture.ts';
import { prefixOfShard, usageStreamOf } from '../store/redis/shards.ts';
import { readBacklog, startBacklog } from './backlog.ts';
import { createStreamGroup } from './stream-group.ts';

describe('usage that no worker has written', () => {
  const redis = privateRedis();

  it('the backlog is what is in any stream and not written, and as old as the oldest of it', async () => {
    const clock = { ...systemClock, nowMs: () => 100_000 };
    const read = async () => (await readBacklog({ redis: redis(), clock })).state;
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

  it('is told by a process that is no worker, with how many workers there are; what Redis does not tell is not known', async () => {
    await redis().run(['FLUSHALL']);
    const reads = { redis: redis(), clock: systemClock };
    let accepts = true;
    const observer = startBacklog({ ...reads, worker: null, acceptsWrites: () => accepts });
    await until(() => observer.workers() === 0);
    const emptyMs = observer.completeUntilMs() ?? 0;
    assert.ok(Date.now() - emptyMs < 30_000);

    const worker = startBacklog({ ...reads, worker: 'one', acceptsWrites: () => true });
    await until(() => worker.workers() === 1);
    await redis().run(['XADD', usageStreamOf(prefixOfShard(3)), `${Date.now() - 90_000}-0`, 'r', '{}']);
    redis().shards.use(prefixOfShard(3));
    await until(() => observer.workers() === 1 && (observer.state()?.lagMs ?? 0) >= 90_000);
    assert.ok(Date.now() - (observer.completeUntilMs() ?? 0) >= 90_000, 'it claims what is missing');
    await worker.stop();
    await until(() => observer.workers() === 0);

    accepts = false;
    await until(() => observer.workers() === null);
    const stoodMs = observer.completeUntilMs();
    await redis().run(['DEL', usageStreamOf(prefixOfShard(3))]);
    await until(() => observer.state()?.entries === 0);
    assert.equal(observer.completeUntilMs(), stoodMs, 'gateways may hold usage');
    await observer.stop();
  });
});

async function until(holds: () => boolean): Promise<void> {
  for (const endMs = Date.now() + 60_000; !holds(); ) {
    assert.ok(Date.now() < endMs, 'it never held');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
