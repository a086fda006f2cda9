import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { privateRedis } from '../store/fixtures/private-redis.fixture.ts';
import { prefixOf } from '../store/redis/shards.ts';
import { admitted, askOf, type Bench, benches, newOrganization, usedIn } from './both-engines.fixture.ts';
import type { Actual } from './engine.ts';

const USED_30: Actual = { dispatched: true, tokens: 30, spendMicros: 0 };
const USED_250: Actual = { dispatched: true, tokens: 250, spendMicros: 0 };
const NEVER_SENT: Actual = { dispatched: false, tokens: 0, spendMicros: 0 };
const HOUR_MS = 3_600_000;

type Settle = (operationId: string, actual: Actual) => Promise<string>;

describe('late settlements', () => {
  const redis = privateRedis({ commandTimeoutMs: 10_000 });

  for (const [name, start] of benches(redis)) {
    describe(`a settlement after the end of its lease, ${name}`, () => {
      /** Two requests are in flight, and their gateway is frozen for longer than their leases. */
      async function frozen(): Promise<{ bench: Bench; organizationId: string; settle: Settle }> {
        const bench = start();
        const own = newOrganization();
        for (const id of ['a', 'b']) assert.equal(await admitted(bench, askOf(own, id)), 'admitted');
        bench.nowMs += 21_000;
        assert.equal(await bench.engine.sweep(), 2);
        // Their use is unknown, so they stay charged at the estimate; the units are free.
        assert.deepEqual(await usedIn(bench, own), [200, 200, 0]);
        const settle: Settle = (operationId, actual) =>
          bench.engine.settle({ organizationId: own, operationId, actual, record: operationId });
        return { bench, organizationId: own, settle };
      }

      it('corrects the windows to what was used', async () => {
        const { bench, organizationId: own, settle } = await frozen();
        assert.equal(await settle('a', USED_30), 'settled');
        assert.deepEqual(await usedIn(bench, own), [130, 130, 0]);
        assert.equal(await settle('b', USED_250), 'settled');
        assert.deepEqual(await usedIn(bench, own), [280, 280, 0]);
        // Once: the second finds nothing.
        assert.equal(await settle('a', USED_30), 'unknown');
        assert.deepEqual(await usedIn(bench, own), [280, 280, 0]);
      });

      it('that was never sent gives back everything, and so does a place that is given up', async () => {
        const { bench, organizationId: own, settle } = await frozen();
        assert.equal(await settle('a', NEVER_SENT), 'settled');
        await bench.engine.void(own, 'b');
        assert.deepEqual(await usedIn(bench, own), [0, 0, 0]);
      });

      it('hours later corrects the window of the day and leaves the minute alone', async () => {
        const { bench, organizationId: own, settle } = await frozen();
        bench.nowMs += 3 * HOUR_MS;
        await bench.engine.sweep();
        await settle('a', USED_30);
        assert.deepEqual(await usedIn(bench, own), [130, 0, 0]);
      });

      it('more than a day later finds nothing', async () => {
        const { bench, settle } = await frozen();
        bench.nowMs += 25 * HOUR_MS;
        await bench.engine.sweep();
        assert.equal(await settle('a', USED_30), 'unknown');
      });

      it('a heartbeat takes the request in again without charging it twice', async () => {
        const { bench, organizationId: own, settle } = await frozen();
        const { engine } = bench;
        assert.deepEqual(await engine.extend(own, ['a'], 20_000), ['a']);
        assert.equal(await engine.restore(askOf(own, 'a'), 0, 21_000), true);
        assert.deepEqual(await usedIn(bench, own), [200, 200, 1]);
        assert.deepEqual(await engine.extend(own, ['a'], 20_000), []);
        assert.equal(await settle('a', USED_30), 'settled');
        assert.deepEqual(await usedIn(bench, own), [130, 130, 0]);
        // It lives and dies as any other.
        await engine.restore(askOf(own, 'b'), 0, 21_000);
        bench.nowMs += 21_000;
        assert.equal(await engine.sweep(), 1);
        assert.deepEqual(await usedIn(bench, own), [130, 130, 0]);
      });

      it('a fallback after it settles the attempt, and asks for the next', async () => {
        const { bench, organizationId: own, settle } = await frozen();
        const release: Actual = { dispatched: true, tokens: 10, spendMicros: 0 };
        assert.equal(await admitted(bench, askOf(own, 'a', { release })), 'admitted');
        assert.deepEqual(await usedIn(bench, own), [210, 210, 1]);
        await settle('a', USED_30);
        assert.deepEqual(await usedIn(bench, own), [140, 140, 0]);
        // One that does not know that it was admitted was not sent.
        assert.equal(await admitted(bench, askOf(own, 'b')), 'admitted');
        assert.deepEqual(await usedIn(bench, own), [140, 140, 1]);
      });

      it('leaves nothing behind', async () => {
        const { bench, organizationId: own, settle } = await frozen();
        await settle('a', USED_30);
        bench.nowMs += 25 * HOUR_MS;
        await bench.engine.sweep();
        if (name === 'in memory') return;
        const keys = (await redis().run(['KEYS', `${prefixOf(own)}*`])) as string[];
        assert.deepEqual(
          keys.filter((key) => /:(?:leases|expiry|late)$/.test(key)),
          [],
        );
      });
    });
  }
});
