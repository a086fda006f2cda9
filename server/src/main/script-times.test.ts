import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Scripts } from '../admission/redis/scripts.ts';
import { prefixOfShard } from '../store/redis/shards.ts';
import { timeScripts } from './script-times.ts';

describe('script times', () => {
  it('tell the slowest shards of the last minute, a bounded number of them', async () => {
    const time = { ms: 0 };
    const { timedScripts, scriptTimes, slowestShards } = timeScripts({
      nowMs: () => 0,
      monotonicMs: () => time.ms,
    });
    const scripts = timedScripts({
      run: async (_name: string, prefix: string) => {
        time.ms += prefix === prefixOfShard(7) ? 50 : 1;
      },
    } as unknown as Scripts);
    for (let shard = 0; shard < 100; shard += 1) await scripts.run('batch', prefixOfShard(shard), []);
    assert.equal(slowestShards().length, 20);
    assert.deepEqual(slowestShards()[0], [{ shard: 's7' }, 0.05]);
    assert.equal(
      scriptTimes.counts.reduce((sum, count) => sum + count),
      100,
    );
    time.ms += 60_001;
    assert.deepEqual(slowestShards(), []);
  });
});
