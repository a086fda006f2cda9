import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLog } from '../../kit/log.ts';
import { prefixOfShard } from '../../store/redis/shards.ts';
import type { RestartedShard } from '../shard-reports.ts';
import { createEpochs } from './epochs.ts';

const PREFIX = prefixOfShard(7);

/** Redis and PostgreSQL as far as epochs see them. */
function stores() {
  const redis = { epoch: 1, sequence: 100, opensInMs: 0 };
  const kept = { epoch: 1 };
  const started: number[] = [];
  let tell: () => void = () => undefined;
  const owner = {
    isForeign: false,
    asked: new Promise<void>((resolve) => {
      tell = resolve;
    }),
  };
  let heard: (shard: RestartedShard) => void = () => undefined;
  const restarted = new Promise<RestartedShard>((resolve) => {
    heard = resolve;
  });
  const epochs = createEpochs(
    {
      store: {
        read: async () => ({ epoch: kept.epoch, isRecent: false }),
        raise: async (_shard, from, to) => {
          if (kept.epoch !== from) return false;
          kept.epoch = to;
          return true;
        },
      },
      organizations: async () => [],
      restarted: async (shard) => heard(shard),
      random: Math.random,
      async demandOwn() {
        if (!owner.isForeign) return;
        tell();
        throw new Error('it belongs to another deployment');
      },
      log: createLog('silent'),
    },
    {
      run: async (_name, _prefix, [, wanted]) => {
        if (Number(wanted) > redis.epoch) {
          redis.epoch = Number(wanted);
          started.push(redis.epoch);
        }
        return [redis.epoch, redis.sequence, redis.opensInMs];
      },
    },
  );
  return { redis, epochs, started, restarted, owner };
}

// A restart that does not come is never told.
describe('a shard whose state a script refused', { timeout: 20_000 }, () => {
  it('is started again, also when others have raised its sequence past what this process had seen', async () => {
    const { redis, epochs, started, restarted } = stores();
    assert.equal((await epochs.seen(PREFIX)).epoch, 1);
    epochs.saw(PREFIX, 1, 150);
    // A replica took over at 120, refused this process, and served others up to 160 before this one looked.
    redis.sequence = 160;
    epochs.refused(PREFIX, 1);
    assert.equal((await restarted).shard, PREFIX);
    assert.equal(started.length, 1);
    assert.ok(Number(started[0]) > 1);
  });

  it('is followed to the epoch that another process has started', async () => {
    const { redis, epochs, started, restarted } = stores();
    await epochs.seen(PREFIX);
    Object.assign(redis, { epoch: 2, sequence: 10 });
    epochs.refused(PREFIX, 1);
    await restarted;
    assert.deepEqual(started, []);
    assert.equal((await epochs.seen(PREFIX)).epoch, 2);
  });

  it('gets another epoch than any other deployment starts', async () => {
    const deployments = [stores(), stores(), stores()];
    for (const { epochs } of deployments) {
      await epochs.seen(PREFIX);
      epochs.refused(PREFIX, 1);
    }
    await Promise.all(deployments.map(({ restarted }) => restarted));
    assert.equal(new Set(deployments.map(({ redis }) => redis.epoch)).size, 3);
  });

  it('is not started in a Redis that belongs to another deployment by now', async () => {
    const { redis, epochs, started, restarted, owner } = stores();
    await epochs.seen(PREFIX);
    owner.isForeign = true;
    redis.epoch = 0;
    epochs.refused(PREFIX, 1);
    await owner.asked;
    assert.deepEqual(started, []);
    owner.isForeign = false;
    assert.equal((await restarted).shard, PREFIX);
    assert.equal(started.length, 1);
  });
});
