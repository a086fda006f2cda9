import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startRedis } from './private-redis.ts';
import { redisCall } from './redis-client.ts';

it('a Redis that lost its last writes keeps no part of a script, and all that comes after', async () => {
  const redis = await startRedis({ appendonly: true });
  try {
    const run = (...command: string[]) => redisCall(redis.port, ...command);
    const restart = async (lostBytes: number) => {
      await redis.kill();
      if (lostBytes > 0) redis.loseWrites(lostBytes);
      await redis.start();
    };
    await run('CONFIG', 'SET', 'appendfsync', 'always');
    await run('SET', 'before', '1');
    await run(
      'EVAL',
      "redis.call('SET', 'first', 1) redis.call('SET', 'second', 'long enough to be cut')",
      '0',
    );
    await restart(20);
    assert.deepEqual(await run('KEYS', '*'), ['before']);
    await run('SET', 'after', '1');
    await restart(0);
    assert.deepEqual(((await run('KEYS', '*')) as string[]).sort(), ['after', 'before']);
  } finally {
    await redis.remove();
  }
});
