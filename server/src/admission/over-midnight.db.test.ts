import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { privateRedis } from '../store/fixtures/private-redis.fixture.ts';
import { admitted, askOf, type Bench, benches, newOrganization, usedIn } from './both-engines.fixture.ts';
import type { Actual } from './engine.ts';

const MIDNIGHT_MS = Date.UTC(2027, 1, 1);
const use = (tokens: number): Actual => ({ dispatched: true, tokens, spendMicros: 0 });

describe('requests in flight over midnight', () => {
  const redis = privateRedis({ commandTimeoutMs: 10_000 });

  for (const [name, start] of benches(redis)) {
    describe(`use more than they reserved, ${name}`, () => {
      /** One is dispatched 10 s before midnight, and another 10 s after it. */
      async function twoDays(): Promise<{ bench: Bench; own: string }> {
        const [bench, own] = [start(), newOrganization()];
        bench.nowMs = MIDNIGHT_MS - 10_000;
        assert.equal(await admitted(bench, askOf(own, 'a')), 'admitted');
        assert.deepEqual(await usedIn(bench, own), [100, 100, 1]);
        bench.nowMs = MIDNIGHT_MS + 10_000;
        assert.equal(await admitted(bench, askOf(own, 'b')), 'admitted');
        assert.deepEqual(await usedIn(bench, own), [100, 200, 2]);
        return { bench, own };
      }

      const settle = ({ engine }: Bench, organizationId: string, operationId: string, actual: Actual) =>
        engine.settle({ organizationId, operationId, actual, record: operationId });

      it('which counts on the day of the dispatch, and in the minute in which it is known', async () => {
        const { bench, own } = await twoDays();
        await settle(bench, own, 'a', use(511));
        assert.deepEqual(await usedIn(bench, own), [100, 611, 1]);
        await settle(bench, own, 'b', use(150));
        assert.deepEqual(await usedIn(bench, own), [150, 661, 0]);
        bench.nowMs += 60_000;
        assert.deepEqual(await usedIn(bench, own), [150, 561, 0]);
      });

      it('also in an attempt that another follows, and after the end of the lease', async () => {
        const { bench, own } = await twoDays();
        assert.equal(await admitted(bench, askOf(own, 'c')), 'refused', 'two are in flight');
        const again = askOf(own, 'a', { release: use(300), attempt: 1 });
        assert.equal(await admitted(bench, again), 'admitted');
        assert.deepEqual(await usedIn(bench, own), [200, 500, 2]);
        bench.nowMs = MIDNIGHT_MS + 86_400_000 - 1_000;
        await bench.engine.sweep();
        bench.nowMs = MIDNIGHT_MS + 86_400_000 + 1_000;
        await settle(bench, own, 'b', use(400));
        assert.equal(await admitted(bench, askOf(own, 'd')), 'admitted');
        assert.deepEqual(await usedIn(bench, own), [100, 400, 1]);
      });
    });
  }
});
