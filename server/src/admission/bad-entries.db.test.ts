import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type PrivateRedis, startRedis } from '@relay/testbed';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { createSetAside, type SetAside } from '../kit/set-aside.ts';
import { createRedis, type Redis } from '../store/redis/redis.ts';
import { prefixOf, usageStreamOf } from '../store/redis/shards.ts';
import { admitted, askOf, type Bench, benches, MINUTE, usedIn } from './both-engines.fixture.ts';
import { createFleetFlows } from './fleet-flows.ts';

const USED = { dispatched: true, tokens: 30, spendMicros: 0 };
/** What may stand where a lease is expected: noise, a lease that was cut off, one of a later version. */
const BAD_LEASES: readonly [string, string | Buffer][] = [
  ['noise', 'garbage'],
  ['nothing', ''],
  ['the first byte alone', '\u0001'],
  ['a dispatched lease that is cut off', `\u0001${'\0'.repeat(20)}`],
  ['a packed lease that is cut off', '\u0002\u0086'],
  ['a packed number', '\u0002\u0007'],
  ['a packed table without members', '\u0002\u0080'],
  ['a later version', `\u0009${'x'.repeat(80)}`],
];

/** Keys of a line that are named after a queue, a place or a window. */
const PARTS = /:(?:plan|planned|place|least|queue|size):/;

let server: PrivateRedis;
let redis: Redis;
let errors: Record<string, unknown>[];
let aside: SetAside;

describe('entries that cannot be read', () => {
  before(async () => {
    server = await startRedis();
    redis = createRedis({
      url: server.url,
      clock: systemClock,
      log: createLog('silent'),
      commandTimeoutMs: 10_000,
    });
    await redis.whenReady(60_000);
  });
  beforeEach(async () => {
    await redis.run(['FLUSHALL']);
    errors = [];
    aside = createSetAside({ error: (about: unknown) => void errors.push(about as Record<string, unknown>) });
  });
  after(async () => {
    await redis.close();
    await server.remove();
  });

  for (const [name, start] of benches(() => redis).filter(([each]) => each !== 'in memory')) {
    describe(`a bad entry stops nothing, ${name}`, () => {
      let bench: Bench;
      let organizationId: string;
      let prefix: string;
      beforeEach(() => {
        bench = start(aside);
        organizationId = randomUUIDv7();
        prefix = prefixOf(organizationId);
      });

      const put = (key: string, field: string, value: string | Buffer) =>
        redis.run(['HSET', `${prefix}${key}`, field, value as string]);
      const expiresFirst = (operationId: string) => redis.run(['ZADD', `${prefix}expiry`, '1', operationId]);

      it('leases that cannot be read are set aside, and the others behind them end', async () => {
        for (const [index, [, text]] of BAD_LEASES.entries()) {
          await put('leases', `bad-${index}`, text);
          await expiresFirst(`bad-${index}`);
        }
        await expiresFirst('without a lease');
        for (const id of ['a', 'b'])
          assert.equal(await admitted(bench, askOf(organizationId, id)), 'admitted');
        bench.nowMs += 21_000;
        assert.equal(await bench.engine.sweep(), BAD_LEASES.length + 3);
        assert.deepEqual(await usedIn(bench, organizationId), [200, 200, 0]);
        assert.equal(await redis.run(['XLEN', usageStreamOf(prefix)]), 2);
        assert.equal(await redis.run(['ZCARD', `${prefix}expiry`]), 0);
        // Nothing of them is lost, each was counted, and the log names each.
        assert.equal(await redis.run(['HLEN', `${prefix}aside`]), BAD_LEASES.length);
        assert.equal(aside.counts().lease, BAD_LEASES.length);
        assert.deepEqual(
          errors.map(({ operation }) => operation).sort(),
          BAD_LEASES.map((_, index) => `bad-${index}`),
        );
      });

      for (const [what, text] of BAD_LEASES) {
        it(`a request whose lease became ${what} is settled, asks again and leaves`, async () => {
          for (const id of ['a', 'b', 'c']) {
            await admitted(
              bench,
              askOf(organizationId, id, { candidates: [{ endpointId: 'e', paced: false, charges: [] }] }),
            );
            await put('leases', id, text);
          }
          const settlement = { organizationId, operationId: 'a', actual: USED, record: 'record of a' };
          assert.equal(await bench.engine.settle(settlement), 'unknown');
          assert.equal(await redis.run(['XLEN', usageStreamOf(prefix)]), 1);
          assert.equal(await admitted(bench, askOf(organizationId, 'b')), 'admitted');
          await bench.engine.void(organizationId, 'c');
          assert.deepEqual(await usedIn(bench, organizationId), [100, 100, 1]);
        });
      }

      it('a shape that cannot be read costs the correction of its leases, and nothing else', async () => {
        for (const id of ['a', 'b']) await admitted(bench, askOf(organizationId, id));
        const [key = ''] = (await redis.run(['KEYS', `${prefix}shapes:*`])) as string[];
        const [name = ''] = (await redis.run(['HKEYS', key])) as string[];
        for (const text of ['garbage', '\u0093\u0001\u0002\u0003']) {
          await redis.run(['HSET', key, name, text]);
          const other = askOf(organizationId, `other ${text}`, {
            candidates: [{ endpointId: 'e', paced: false, charges: [] }],
          });
          assert.equal(await admitted(bench, other), 'admitted');
        }
        bench.nowMs += 21_000;
        assert.equal(await bench.engine.sweep(), 4);
        assert.equal(await redis.run(['XLEN', usageStreamOf(prefix)]), 4);
      });

      it('a window and a cooldown that cannot be read count as absent', async () => {
        await admitted(bench, askOf(organizationId, 'a'));
        for (const key of (await redis.run(['HKEYS', `${prefix}${organizationId}:heads`])) as string[])
          await put(`${organizationId}:heads`, key, 'garbage');
        await redis.run(['SET', `${prefix}${organizationId}:cooldown:e`, 'garbage']);
        // The calendar window is rebuilt from the ledger.
        assert.equal((await bench.engine.admit(askOf(organizationId, 'b'))).kind, 'rebuild');
        assert.equal(await admitted(bench, askOf(organizationId, 'b')), 'admitted');
      });

      describe('a line that cannot be read', () => {
        const waiting = (id: string) => {
          const charges = [{ policy: { ...MINUTE, limit: 100 }, cost: 100 }];
          return askOf(organizationId, id, {
            candidates: [{ endpointId: 'e', paced: false, charges }],
            waitMsMax: 200_000,
          });
        };
        const damages: readonly [string, (base: string) => Promise<unknown>][] = [
          ['a waiter', (base) => redis.run(['HSET', `${base}waiters`, 'b', 'garbage'])],
          ['a waiter of a later version', (base) => redis.run(['HSET', `${base}waiters`, 'b', '\u0001'])],
          ['a lost waiter', (base) => redis.run(['HDEL', `${base}waiters`, 'b'])],
          ['a lost queue', (base) => redis.run(['DEL', `${base}queues`])],
          [
            'a place',
            async (base) => {
              for (const key of (await redis.run(['HKEYS', `${base}places`])) as string[])
                await redis.run(['HSET', `${base}places`, key, 'garbage']);
            },
          ],
          [
            'another type',
            async (base) => {
              await redis.run(['DEL', `${base}due`]);
              await redis.run(['SET', `${base}due`, 'garbage']);
            },
          ],
        ];
        for (const [what, damage] of damages) {
          it(`is dropped, and who waits asks again: ${what}`, async () => {
            assert.equal((await bench.engine.admit(waiting('a'))).kind, 'admitted');
            for (const id of ['b', 'c']) assert.equal((await bench.engine.admit(waiting(id))).kind, 'wait');
            await damage(`${prefix}${organizationId}:`);
            bench.nowMs += 62_000;
            // Whatever meets it first: here a step, an ask and a sweep.
            await bench.engine.extend(organizationId, ['b', 'c'], 20_000);
            await bench.engine.step(organizationId);
            await bench.engine.sweep();
            for (const id of ['b', 'c']) {
              const { kind } = await bench.engine.admit(waiting(id));
              assert.ok(kind === 'wait' || kind === 'admitted', kind);
            }
            for (let turn = 0; turn < 4; turn += 1) {
              bench.nowMs += 31_000;
              await bench.engine.extend(organizationId, ['b', 'c'], 200_000);
              await bench.engine.step(organizationId);
            }
            for (const operationId of ['b', 'c'])
              await bench.engine.settle({ organizationId, operationId, actual: USED, record: operationId });
            const left = (await redis.run(['KEYS', `${prefix}*`])) as string[];
            assert.deepEqual(
              left.filter((key) => /:(?:line|waiters|due|expiry|(?:plan|place|queue):.*)$/.test(key)),
              [],
            );
          });
        }

        // A log of Redis that was cut within a script may leave a part of it: docs/operate/redis.md.
        it('is dropped with what an earlier line left behind', async () => {
          await bench.engine.admit(waiting('a'));
          for (const id of ['b', 'c']) await bench.engine.admit(waiting(id));
          const strays = ((await redis.run(['KEYS', `${prefix}*`])) as string[]).filter((key) =>
            PARTS.test(key),
          );
          assert.ok(strays.length >= 4, strays.join(' '));
          for (const key of strays) await redis.run(['COPY', key, `kept:${prefix}${key}`]);
          for (const id of ['b', 'c']) await bench.engine.void(organizationId, id);
          for (const key of strays) await redis.run(['RENAME', `kept:${prefix}${key}`, key]);
          for (const id of ['d', 'e']) {
            const { kind } = await bench.engine.admit(waiting(id));
            assert.equal(kind, 'wait');
          }
          for (let turn = 0; turn < 6; turn += 1) {
            bench.nowMs += 31_000;
            await bench.engine.extend(organizationId, ['d', 'e'], 200_000);
            await bench.engine.step(organizationId);
            for (const id of ['d', 'e']) await bench.engine.admit(waiting(id));
          }
          for (const operationId of ['d', 'e'])
            assert.equal(
              await bench.engine.settle({ organizationId, operationId, actual: USED, record: operationId }),
              'settled',
            );
          const left = (await redis.run(['KEYS', `${prefix}*`])) as string[];
          assert.deepEqual(
            left.filter((key) => PARTS.test(key)),
            [],
          );
        });

        it('is dropped by a sweep too, when no gateway asks any more', async () => {
          const other = randomUUIDv7();
          for (const id of ['a', 'b', 'c']) await bench.engine.admit(waiting(id));
          await redis.run(['HSET', `${prefix}${organizationId}:waiters`, 'b', 'garbage', 'c', 'garbage']);
          bench.nowMs += 21_000;
          await bench.engine.sweep();
          await bench.engine.sweep();
          assert.equal(aside.counts().line, 1);
          assert.equal(await redis.run(['ZCARD', `${prefix}expiry`]), 0, other);
          assert.equal((await bench.engine.admit(waiting('d'))).kind, 'wait');
        });
      });
    });
  }

  describe('a report of live traffic that cannot be read', () => {
    it('is not shown, and the others are', async () => {
      const organizationId = randomUUIDv7();
      const flow = { laneId: null, endpointId: null, userId: 'u', waiting: 1, inFlight: 0, oldestWaitMs: 1 };
      const fleet = createFleetFlows({
        redis,
        own: async () => ({ flows: [flow] as never, lanes: [] }),
        gatewayId: 'reader',
        clock: systemClock,
        log: createLog('silent'),
        aside,
      });
      await fleet.start();
      await redis.run(['PUBLISH', 'relay:flows', 'garbage']);
      const key = `${prefixOf(organizationId)}${organizationId}:flows:reader:`;
      await redis.run(['HSET', key, 'other', 'garbage', 'third', '{"gatewayId":7}']);
      assert.equal((await fleet.read({ organizationId, userId: undefined })).flows.length, 1);
      assert.equal(aside.counts().report, 2);
      await fleet.stop();
    });
  });
});
