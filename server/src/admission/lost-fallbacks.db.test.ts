import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { privateRedis } from '../store/fixtures/private-redis.fixture.ts';
import { admitted, askOf, type Bench, benches, newOrganization, usedIn } from './both-engines.fixture.ts';
import type { Actual, SettleAsk } from './engine.ts';

const use = (tokens: number): Actual => ({ dispatched: true, tokens, spendMicros: 0 });
const FIRST = use(10);
const SECOND = use(30);

describe('fallbacks whose first attempt is lost', () => {
  const redis = privateRedis({ commandTimeoutMs: 10_000 });

  for (const [name, start] of benches(redis)) {
    describe(`a settlement says what each attempt used, ${name}`, () => {
      const settle = (
        { engine }: Bench,
        organizationId: string,
        uses: Pick<SettleAsk, 'actual' | 'earlier'>,
      ): Promise<string> => engine.settle({ organizationId, operationId: 'a', ...uses, record: 'a' });

      it('a fallback that the engine let go unheard gives everything back, and the failed attempt counts once', async () => {
        const [bench, own] = [start(), newOrganization()];
        await admitted(bench, askOf(own, 'a'));
        assert.equal(await admitted(bench, askOf(own, 'a', { release: FIRST, attempt: 1 })), 'admitted');
        assert.deepEqual(await usedIn(bench, own), [110, 110, 1]);
        assert.equal(await settle(bench, own, { actual: FIRST }), 'settled');
        assert.deepEqual(await usedIn(bench, own), [10, 10, 0]);
      });

      it('a fallback that the engine never heard of charges the failed attempt alone', async () => {
        const [bench, own] = [start(), newOrganization()];
        await admitted(bench, askOf(own, 'a'));
        assert.equal(await settle(bench, own, { actual: SECOND, earlier: [FIRST] }), 'settled');
        assert.deepEqual(await usedIn(bench, own), [10, 10, 0]);
      });

      it('a fallback that was sent is charged beside the failed attempt, also after it was restored', async () => {
        const [bench, own] = [start(), newOrganization()];
        await admitted(bench, askOf(own, 'a'));
        const fallback = askOf(own, 'a', { release: FIRST, attempt: 1 });
        await admitted(bench, fallback);
        bench.nowMs += 21_000;
        await bench.engine.sweep();
        const { release: _release, ...kept } = fallback;
        assert.equal(await bench.engine.restore(kept, 0, 21_000), true);
        assert.equal(await settle(bench, own, { actual: SECOND, earlier: [FIRST] }), 'settled');
        assert.deepEqual(await usedIn(bench, own), [40, 40, 0]);
      });

      it('a late settlement is for the last attempt', async () => {
        const [bench, own] = [start(), newOrganization()];
        await admitted(bench, askOf(own, 'a'));
        await admitted(bench, askOf(own, 'a', { release: FIRST, attempt: 1 }));
        bench.nowMs += 21_000;
        await bench.engine.sweep();
        assert.equal(await settle(bench, own, { actual: SECOND, earlier: [FIRST] }), 'settled');
        assert.deepEqual(await usedIn(bench, own), [40, 40, 0]);
      });

      it('a fallback that waited and went is the attempt that it was asked for', async () => {
        const [bench, own] = [start(), newOrganization()];
        await admitted(bench, askOf(own, 'a'));
        await admitted(bench, askOf(own, 'b'));
        // The unit that the failed attempt gives back is for the one that waits already.
        const waits = { waitMsMax: 15_000 };
        assert.equal(await admitted(bench, askOf(own, 'c', waits)), 'wait');
        const fallback = askOf(own, 'a', { ...waits, release: FIRST, attempt: 1 });
        assert.equal(await admitted(bench, fallback), 'wait');
        await bench.engine.settle({ organizationId: own, operationId: 'b', actual: use(100), record: 'b' });
        const { release: _release, ...again } = fallback;
        assert.equal(await admitted(bench, again), 'admitted');
        assert.deepEqual(await usedIn(bench, own), [310, 310, 2]);
        assert.equal(await settle(bench, own, { actual: FIRST }), 'settled');
        assert.deepEqual(await usedIn(bench, own), [210, 210, 1]);
      });

      it('a lease after a failed attempt that does not say which attempt it is for is for the last one', async () => {
        const [bench, own] = [start(), newOrganization()];
        await admitted(bench, askOf(own, 'a'));
        // As a gateway of the version before lets it go.
        await admitted(bench, askOf(own, 'a', { release: FIRST }));
        assert.equal(await settle(bench, own, { actual: SECOND, earlier: [FIRST] }), 'settled');
        assert.deepEqual(await usedIn(bench, own), [40, 40, 0]);
      });
    });
  }
});
