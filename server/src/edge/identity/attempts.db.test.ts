import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type PrivateRedis, startRedis } from '@relay/testbed';
import { RelayError } from '../../domain/relay-error.ts';
import { systemClock } from '../../kit/clock.ts';
import { silentLog } from '../../store/fixtures/migrated-database.fixture.ts';
import { createRedis, type Redis } from '../../store/redis/redis.ts';
import { createWindowCounters } from '../../store/redis/window-counters.ts';
import { type Attempts, createAttempts } from './attempts.ts';
import { sessionSecrets } from './session-secrets.fixture.ts';

describe('attempts to sign in', () => {
  let server: PrivateRedis;
  let redis: Redis;
  const secrets = sessionSecrets();
  const make = (clock = systemClock) =>
    createAttempts({ counters: createWindowCounters({ redis, clock }), secrets });

  before(async () => {
    server = await startRedis();
    redis = createRedis({ url: server.url, clock: systemClock, log: silentLog, commandTimeoutMs: 10_000 });
    await redis.whenReady(60_000);
  });
  after(async () => {
    await redis.close();
    await server.remove();
  });

  async function failTimes(attempts: Attempts, of: string, times: number): Promise<void> {
    for (let index = 0; index < times; index += 1) await attempts.take([{ kind: 'account_and_client', of }]);
  }
  const refused = (error: unknown) => {
    assert.ok(error instanceof RelayError);
    assert.equal(error.code, 'too_many_attempts');
    const seconds = Number(error.detail.headers?.['Retry-After']);
    assert.ok(seconds > 890 && seconds <= 900, `Retry-After: ${seconds}`);
    return true;
  };

  it('are ten failures for one account and client in a quarter of an hour, over all processes', async () => {
    await failTimes(make(), 'ada', 6);
    await failTimes(make(), 'ada', 4);
    await assert.rejects(make().take([{ kind: 'account_and_client', of: 'ada' }]), refused);
    await failTimes(make(), 'grace', 1);
  });

  it('do not count when they were no failures', async () => {
    const attempts = make();
    for (let index = 0; index < 30; index += 1)
      await (await attempts.take([{ kind: 'account_and_client', of: 'often' }]))();
    await failTimes(attempts, 'often', 10);
    await assert.rejects(attempts.take([{ kind: 'account_and_client', of: 'often' }]), refused);
  });

  it('cannot pass together: of forty concurrent ones ten get through', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, () => make().take([{ kind: 'account_and_client', of: 'crowd' }])),
    );
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 10);
  });

  it('are a hundred from one client, whatever accounts they are for', async () => {
    const attempts = make();
    for (let index = 0; index < 100; index += 1) {
      await attempts.take([
        { kind: 'account_and_client', of: `one-of-many-${index}` },
        { kind: 'client', of: '203.0.113.7' },
      ]);
    }
    await assert.rejects(attempts.take([{ kind: 'client', of: '203.0.113.7' }]), refused);
    await attempts.take([{ kind: 'client', of: '203.0.113.8' }]);
  });

  it('leave no address in Redis', async () => {
    await make().take([{ kind: 'account_and_client', of: 'somebody@example.com' }]);
    const keys = JSON.stringify(await redis.run(['KEYS', '*']));
    assert.ok(keys.includes('relay:attempts:account_and_client:'));
    assert.ok(!keys.includes('somebody'));
  });

  it('are counted by the process itself while Redis is unavailable, and end with their window', async () => {
    await server.kill();
    let skippedMs = 0;
    const attempts = make({ ...systemClock, nowMs: () => Date.now() + skippedMs });
    for (let index = 0; index < 20; index += 1)
      await (await attempts.take([{ kind: 'account_and_client', of: 'alone' }]))();
    await failTimes(attempts, 'alone', 10);
    await assert.rejects(attempts.take([{ kind: 'account_and_client', of: 'alone' }]), refused);
    skippedMs = 15 * 60_000;
    await failTimes(attempts, 'alone', 10);
    await server.start();
  });

  it('are counted by a process that has no Redis, as strictly', async () => {
    const alone = createAttempts({
      counters: createWindowCounters({ redis: null, clock: systemClock }),
      secrets,
    });
    await failTimes(alone, 'ada', 9);
    await (await alone.take([{ kind: 'account_and_client', of: 'ada' }]))();
    await failTimes(alone, 'ada', 1);
    await assert.rejects(alone.take([{ kind: 'account_and_client', of: 'ada' }]), refused);
    await failTimes(alone, 'grace', 1);
  });
});
