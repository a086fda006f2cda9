import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { type PrivateRedis, startRedis } from '@relay/testbed';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { createRedis, type Redis } from '../store/redis/redis.ts';
import { prefixOf, usageStreamOf } from '../store/redis/shards.ts';
import { usageBefore } from './kept-usage.fixture.ts';
import { sampleRecord } from './request-records.fixture.ts';

describe('records of requests that were never admitted', () => {
  let server: PrivateRedis;
  let redis: Redis;
  let kept: string[];

  before(async () => {
    server = await startRedis();
    redis = createRedis({ url: server.url, clock: systemClock, log: createLog('silent') });
    await redis.whenReady(60_000);
  });
  beforeEach(() => {
    kept = [];
  });
  afterEach(async () => {
    await redis.run(['FLUSHALL']);
  });
  after(async () => {
    await redis.close();
    await server.remove();
  });

  const keep = (_organizationId: string, record: string) => void kept.push(record);
  const { organizationId } = sampleRecord();

  async function arrived(): Promise<string[]> {
    const reply = await redis.run(['XRANGE', usageStreamOf(prefixOf(organizationId)), '-', '+']);
    return (reply as [string, string[]][]).flatMap(([, fields]) =>
      fields.filter((_, index) => index % 2 === 1),
    );
  }

  it('are sent together, in order', async () => {
    const usage = usageBefore(redis, keep);
    const records = Array.from({ length: 50 }, (_, index) => `record ${index}`);
    for (const record of records) usage.append(organizationId, record);
    assert.equal(usage.pending(), 50);
    assert.equal(await usage.close(5_000), 0);
    assert.deepEqual(await arrived(), records);
    assert.equal(await redis.run(['XLEN', usageStreamOf(prefixOf(organizationId))]), 3);
    assert.deepEqual([usage.pending(), kept], [0, []]);
  });

  it('past the bound are kept immediately, and none is dropped', async () => {
    const usage = usageBefore(redis, keep, 10);
    for (let index = 0; index < 25; index += 1) usage.append(organizationId, `record ${index}`);
    assert.equal(usage.pending(), 10);
    assert.equal(kept.length, 15);
    assert.equal(await usage.close(5_000), 0);
    assert.equal(new Set([...kept, ...(await arrived())]).size, 25);
  });

  it('are kept while Redis is frozen, and later ones are sent again', async () => {
    const usage = usageBefore(redis, keep);
    server.pause();
    for (let index = 0; index < 100; index += 1) usage.append(organizationId, `frozen ${index}`);
    const endMs = performance.now() + 10_000;
    while (kept.length < 100) {
      assert.ok(performance.now() < endMs, `${kept.length} are kept`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.equal(usage.pending(), 0);
    server.resume();
    await redis.whenReady(60_000);
    usage.append(organizationId, 'after');
    assert.equal(await usage.close(5_000), 0);
    assert.equal((await arrived()).at(-1), 'after');
  });

  it('are kept when the deadline to send them passes, and afterwards', async () => {
    const usage = usageBefore(redis, keep);
    server.pause();
    for (let index = 0; index < 3; index += 1) usage.append(organizationId, `record ${index}`);
    assert.equal(await usage.close(50), 3);
    usage.append(organizationId, 'late');
    assert.deepEqual(kept, ['record 0', 'record 1', 'record 2', 'late']);
    server.resume();
    await redis.whenReady(60_000);
  });
});
