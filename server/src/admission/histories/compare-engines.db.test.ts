import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type PrivateRedis, startRedis } from '@relay/testbed';
import { systemClock } from '../../kit/clock.ts';
import { createLog } from '../../kit/log.ts';
import { createRedis, type Redis } from '../../store/redis/redis.ts';
import { compareEngines } from './compare-engines.fixture.ts';
import { PLANTED } from './planted-faults.fixture.ts';

// A short run; `npm run test:admission -- --ops N` runs longer ones.
const OPS = 20_000;
const SEED = Date.now() % 1_000_000;
let server: PrivateRedis;
let redis: Redis;

before(async () => {
  server = await startRedis();
  redis = createRedis({
    url: server.url,
    clock: systemClock,
    log: createLog('warn'),
    commandTimeoutMs: 10_000,
  });
  await redis.whenReady(5_000);
});
after(async () => {
  await redis.close();
  await server.remove();
});

it('the Redis engine answers as the reference does, exceeds no window and leaks no lease', async () => {
  const { findings, answers } = await compareEngines(redis, { ops: OPS, seed: SEED });
  assert.deepEqual(findings, [], `first seed ${SEED}`);
  // A history in which nothing waits or is rejected would prove little.
  for (const kind of ['admitted', 'wait', 'line', 'wait_budget', 'exceeds_limit', 'queue_full']) {
    assert.ok((answers[kind] ?? 0) > 20, `${kind} came ${answers[kind] ?? 0} times, first seed ${SEED}`);
  }
});

for (const { name, plant } of PLANTED) {
  it(`catches ${name}`, async () => {
    const { findings } = await compareEngines(redis, {
      ops: 20_000,
      seed: SEED,
      rewrite: plant,
      stopAtFirst: true,
    });
    assert.notEqual(findings.length, 0, `first seed ${SEED}`);
  });
}
