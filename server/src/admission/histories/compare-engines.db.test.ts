import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type PrivateRedis, startRedis } from '@relay/testbed';
import { testSeed } from '@relay/testbed/random';
import { systemClock } from '../../kit/clock.ts';
import { createLog } from '../../kit/log.ts';
import { createRedis, type Redis } from '../../store/redis/redis.ts';
import { compareEngines, withRedis } from './compare-engines.fixture.ts';

// A short run; `npm run test:admission -- --ops N` runs longer ones.
const OPS = 10_000;
/** Fixed, because each fault shows in this run. */
const PLANTED_SEED = 100;
/** Faults in the text of the scripts, which then differ from the reference. */
const PLANTED = [
  ['a window off by one', 'minute = 122', 'minute = 121'],
  ['a failed attempt forgotten when its gateway dies', 'elseif lease.tried then', 'elseif false then'],
  ['a slot behind a concurrency limit as if it were known', 'firm and not HELD[flat[at]]', 'firm'],
] as const;
let server: PrivateRedis;
let redis: Redis;

describe('random histories', () => {
  before(async () => {
    server = await startRedis();
    redis = createRedis({
      url: server.url,
      clock: systemClock,
      log: createLog('warn'),
      commandTimeoutMs: 10_000,
    });
    await redis.whenReady(60_000);
  });
  after(async () => {
    await redis.close();
    await server.remove();
  });

  it('the Redis engine answers and releases as the reference does, keeps every promise and leaks nothing', async () => {
    const { findings, counts } = await compareEngines({
      ops: OPS,
      seed: testSeed(),
      start: () => withRedis(redis),
    });
    assert.deepEqual(findings, [], `first seed ${testSeed()}`);
    // A history in which nothing waits or is rejected would prove little.
    for (const kind of ['admitted', 'wait', 'released admitted', 'wait_budget', 'promises', 'looks', 'turns'])
      assert.ok(
        (counts[kind] ?? 0) > 20,
        `${kind} came ${counts[kind] ?? 0} times, first seed ${testSeed()}`,
      );
  });

  for (const [name, from, to] of PLANTED) {
    it(`catches ${name}`, async () => {
      const start = () => withRedis(redis, [redis], (text) => text.replaceAll(from, to));
      const { findings } = await compareEngines({ ops: OPS, seed: PLANTED_SEED, start, stopAtFirst: true });
      assert.notEqual(findings.length, 0, `first seed ${PLANTED_SEED}`);
    });
  }
});
