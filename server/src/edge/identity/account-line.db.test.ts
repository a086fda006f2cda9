import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type PrivateRedis, startRedis } from '@relay/testbed';
import { systemClock } from '../../kit/clock.ts';
import { silentLog } from '../../store/fixtures/migrated-database.fixture.ts';
import { createRedis, type Redis } from '../../store/redis/redis.ts';
import { type AccountLine, createAccountLine, LINE_MS_MAX } from './account-line.ts';
import { sessionSecrets } from './session-secrets.fixture.ts';

describe('attempts on one account from clients it does not know', () => {
  let server: PrivateRedis;
  let redis: Redis;
  const secrets = sessionSecrets();

  before(async () => {
    server = await startRedis();
    redis = createRedis({ url: server.url, clock: systemClock, log: silentLog, commandTimeoutMs: 10_000 });
    await redis.whenReady(60_000);
  });
  after(async () => {
    await redis.close();
    await server.remove();
  });

  const kinds: readonly [string, () => AccountLine][] = [
    ['counted in Redis', () => createAccountLine({ redis, clock: systemClock, secrets })],
    ['counted by the process', () => createAccountLine({ redis: null, clock: systemClock, secrets })],
  ];
  for (const [how, create] of kinds) {
    describe(how, () => {
      const take = async (line: AccountLine, account: string, times: number) => {
        const turns = [];
        for (let index = 0; index < times; index += 1) turns.push(await line.take(account));
        return turns;
      };
      const waits = (turns: Awaited<ReturnType<typeof take>>) =>
        turns.flatMap((turn) => (turn.kind === 'turn' ? [turn.waitMs] : []));

      it('do not wait until twenty have failed', async () => {
        assert.deepEqual(waits(await take(create(), `${how} calm`, 20)), Array(20).fill(0));
      });

      it('then take turns, and a thousand at the same moment are mostly rejected', async () => {
        const turns = await take(create(), `${how} crowd`, 1_000);
        const waited = waits(turns);
        // Twenty without a wait, the one that starts the line, and one every 250 ms for ten seconds.
        assert.ok(waited.length >= 60 && waited.length <= 65, `${waited.length} have got a turn`);
        assert.ok(Math.max(...waited) <= LINE_MS_MAX);
        assert.ok(Math.max(...waited) >= LINE_MS_MAX - 500);
        const rejected = turns.find((turn) => turn.kind === 'rejected');
        assert.ok(rejected?.kind === 'rejected' && rejected.retryMs > 0 && rejected.retryMs <= LINE_MS_MAX);
      });

      it('do not slow down another account', async () => {
        await take(create(), `${how} attacked`, 100);
        assert.deepEqual(waits(await take(create(), `${how} other`, 1)), [0]);
      });

      it('are not counted when they were no failures', async () => {
        const line = create();
        for (let index = 0; index < 60; index += 1) {
          const turn = await line.take(`${how} right`);
          assert.ok(turn.kind === 'turn' && turn.waitMs === 0);
          await turn.giveBack();
        }
      });
    });
  }

  it('share one line over all processes', async () => {
    const lines = kinds.slice(0, 1).flatMap(([, create]) => [create(), create()]);
    const waited: number[] = [];
    for (let index = 0; index < 30; index += 1) {
      const turn = await lines[index % 2]?.take('shared');
      if (turn?.kind === 'turn') waited.push(turn.waitMs);
    }
    assert.ok((waited.at(-1) ?? 0) > 1_500, `the last one waits ${waited.at(-1)} ms`);
  });

  it('take turns by the process itself while Redis is unavailable', async () => {
    await server.kill();
    const line = createAccountLine({ redis, clock: systemClock, secrets });
    let last = 0;
    for (let index = 0; index < 30; index += 1) {
      const turn = await line.take('alone');
      if (turn.kind === 'turn') last = turn.waitMs;
    }
    assert.ok(last > 1_000, `the last one waits ${last} ms`);
    await server.start();
  });
});
