import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { AppliedLimit } from '../domain/limits/limit.ts';
import { EVERY_REQUEST } from '../domain/limits/limits.fixture.ts';
import { privateRedis } from '../store/fixtures/private-redis.fixture.ts';
import { askOf, type Bench, benches, newOrganization } from './both-engines.fixture.ts';

const HOUR_MS = 3_600_000;
const LIMIT = 1_000_000;
const SPEND: AppliedLimit = {
  id: 'spend',
  metric: 'spend',
  period: 'hour',
  limit: LIMIT,
  hard: true,
  counts: EVERY_REQUEST,
};

interface Asked {
  readonly reserved: number;
  /** Of what it reserved. */
  readonly usedShare: number;
  /** How many of those in flight end before it asks. */
  readonly ending: number;
}

const asked: fc.Arbitrary<Asked> = fc.record({
  reserved: fc.integer({ min: 10_000, max: 100_000 }),
  usedShare: fc.double({ min: 0, max: 1, noNaN: true }),
  ending: fc.integer({ min: 0, max: 3 }),
});

describe('hard limits on both engines', () => {
  const redis = privateRedis({ commandTimeoutMs: 10_000 });

  for (const [name, start] of benches(redis)) {
    describe(`reservations of the most that requests use, ${name}`, () => {
      it('never let more be used than the limit, and what comes back is used by others', async () => {
        const bench = start();
        await fc.assert(
          fc.asyncProperty(fc.array(asked, { minLength: 60, maxLength: 60 }), async (requests) => {
            const { used, refused } = await serve(bench, requests);
            assert.ok(used <= LIMIT, `${used} of ${LIMIT}`);
            if (refused) assert.ok(used > 0.85 * LIMIT, `only ${used} of ${LIMIT} could be used`);
          }),
          { numRuns: 3, endOnFailure: true },
        );
      });
    });
  }
});

/** Requests that are refused ask once more when the others have ended, as those do that wait for them. */
async function serve(bench: Bench, requests: readonly Asked[]): Promise<{ used: number; refused: boolean }> {
  const { engine, nowMs } = bench;
  const organizationId = newOrganization();
  const startMs = nowMs - (nowMs % HOUR_MS);
  await engine.initialize(organizationId, [{ policy: SPEND, startMs, amount: 0 }]);
  const flying: { id: string; used: number }[] = [];
  let used = 0;

  async function end(count: number): Promise<void> {
    for (const { id, used: spendMicros } of flying.splice(0, count)) {
      used += spendMicros;
      const actual = { dispatched: true, tokens: 0, spendMicros };
      await engine.settle({ organizationId, operationId: id, actual, record: id });
    }
    const [window] = await engine.usage(organizationId, [SPEND]);
    assert.ok((window?.used ?? 0) >= used && (window?.used ?? 0) <= LIMIT);
  }

  async function admits({ reserved, usedShare }: Asked, index: number): Promise<boolean> {
    const id = `${index}`;
    const charges = [{ policy: SPEND, cost: reserved }];
    const candidates = [{ endpointId: 'e', paced: false, charges }];
    const { kind } = await engine.admit(askOf(organizationId, id, { candidates }));
    if (kind !== 'admitted') return false;
    flying.push({ id, used: Math.floor(reserved * usedShare) });
    return true;
  }

  let refused = false;
  for (const [index, request] of requests.entries()) {
    await end(request.ending);
    if (await admits(request, index)) continue;
    await end(flying.length);
    refused ||= !(await admits(request, index));
  }
  await end(flying.length);
  return { used, refused };
}
