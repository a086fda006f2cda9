import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '../kit/clock.ts';
import { privateRedis } from '../store/fixtures/private-redis.fixture.ts';
import { SHARD_CLOSED_MS } from '../store/redis/shards.ts';
import { isClosedShard } from './closed-shards.ts';
import { createShardReader } from './shard-reader.ts';
import { createStreamGroup } from './stream-group.ts';

const PORTION = { recordsPerRead: 100, reads: 3 };

describe('a shard with entries of many records', () => {
  const redis = privateRedis();

  async function filled(stream: string, recordsPerEntry: number, entries: number) {
    const fields = Array.from({ length: recordsPerEntry }, () => ['r', '{}']).flat();
    for (let count = 0; count < entries; count += 1) await redis().run(['XADD', stream, '*', ...fields]);
    const group = createStreamGroup(redis(), stream, 'worker');
    return createShardReader({ group, clock: systemClock, isClosed: () => isClosedShard(redis(), stream) });
  }

  for (const recordsPerEntry of [1, 25, 64])
    it(`is read in bounded portions, ${recordsPerEntry} records an entry`, async () => {
      const stream = `of-${recordsPerEntry}`;
      const entriesAll = Math.ceil(1_000 / recordsPerEntry);
      const reader = await filled(stream, recordsPerEntry, entriesAll);
      const seen: string[] = [];
      for (let more = true; more; ) {
        const taken = await reader.take(PORTION, null);
        const recordsMax = PORTION.reads * Math.max(PORTION.recordsPerRead, recordsPerEntry);
        assert.ok(taken.entries.length * recordsPerEntry <= recordsMax, `${taken.entries.length} entries`);
        seen.push(...taken.entries.map(({ id }) => id));
        await reader.group.acknowledge(taken.entries);
        ({ more } = taken);
      }
      assert.equal(new Set(seen).size, entriesAll);
      assert.equal(seen.length, entriesAll);
    });

  it('gives none of them while windows are started from the ledger, and all of them later', async () => {
    const stream = 'closed:';
    const reader = await filled(stream, 1, 5);
    const opensIn = (ms: number) =>
      redis().run(['SET', `${stream}epoch`, `2:${Math.round(Date.now() + ms)}:9999999999999`]);
    await opensIn(SHARD_CLOSED_MS - 500);
    assert.deepEqual(await reader.take(PORTION, null), { entries: [], more: false });
    assert.equal(reader.isHolding(), false);
    await opensIn(-1);
    assert.equal((await reader.take(PORTION, null)).entries.length, 5);
  });

  it('gives them all the same when the clock of Redis was set back', async () => {
    const stream = 'ahead:';
    const reader = await filled(stream, 1, 5);
    await redis().run(['SET', `${stream}epoch`, `2:${Date.now() + 3_600_000}:9999999999999`]);
    assert.equal((await reader.take(PORTION, null)).entries.length, 5);
  });
});
