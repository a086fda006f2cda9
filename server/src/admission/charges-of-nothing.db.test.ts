import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AppliedLimit } from '../domain/limits/limit.ts';
import { EVERY_REQUEST } from '../domain/limits/limits.fixture.ts';
import { privateRedis } from '../store/fixtures/private-redis.fixture.ts';
import { askOf, type Bench, benches, newOrganization } from './both-engines.fixture.ts';
import type { AdmissionAnswer, AdmissionAsk } from './engine.ts';

const LIMIT = 100;
const spend = (period: AppliedLimit['period'], limit = LIMIT): AppliedLimit => ({
  id: `spend of a ${period}`,
  metric: 'spend',
  period,
  limit,
  counts: EVERY_REQUEST,
});

describe('requests that are expected to cost nothing, and cost something', () => {
  const redis = privateRedis({ commandTimeoutMs: 10_000 });

  for (const [name, start] of benches(redis)) {
    describe(`are counted by limits on spend, ${name}`, () => {
      for (const period of ['minute', 'hour', 'month'] as const) {
        const policy = spend(period);

        it(`and let in while a ${period} is not above its limit`, async () => {
          const [bench, own] = [start(), newOrganization()];
          assert.equal((await ask(bench, own, policy, 'a')).kind, 'admitted');
          await settle(bench, own, 'a', 90);
          assert.equal((await ask(bench, own, policy, 'b')).kind, 'admitted');
          await settle(bench, own, 'b', 10);
          assert.equal((await ask(bench, own, policy, 'c')).kind, 'admitted', 'exactly at the limit');
          await settle(bench, own, 'c', 90);
          assert.equal(await used(bench, own, policy), 190);
          const refused = await ask(bench, own, policy, 'd');
          assert.ok(refused.kind === 'refused' && refused.reason === 'wait_budget');
          assert.equal(refused.policyId, policy.id);
          bench.nowMs += refused.retryAfterMs;
          assert.equal((await ask(bench, own, policy, 'e')).kind, 'admitted');
        });
      }

      it('also by one that allows nothing', async () => {
        const [bench, own, policy] = [start(), newOrganization(), spend('minute', 0)];
        const units: AppliedLimit = {
          ...policy,
          id: 'units',
          metric: 'concurrency',
          period: 'none',
          limit: 1,
        };
        const charges = [
          { policy: units, cost: 1 },
          { policy, cost: 0 },
        ];
        const candidates = [{ endpointId: 'e', paced: false, charges }];
        for (const id of ['a', 'b', 'c', 'd']) {
          const caller = id === 'd' ? 'two' : 'one';
          const over = { candidates, waitMsMax: 10_000, queue: `lane:${caller}`, caller };
          const { kind } = await bench.engine.admit(askOf(own, id, over));
          assert.equal(kind, id === 'a' ? 'admitted' : 'wait');
        }
        for (const id of ['a', 'b', 'd']) await settle(bench, own, id, 0);
        await new Promise((resolve) => setTimeout(resolve, 20));
        assert.deepEqual([...bench.released.keys()], ['b', 'd', 'c'], 'callers are served in turn');
      });

      it('and not held back by what others reserved for later', async () => {
        const [bench, own, policy] = [start(), newOrganization(), spend('minute')];
        assert.equal((await ask(bench, own, policy, 'a', 50)).kind, 'admitted');
        assert.equal((await ask(bench, own, policy, 'b', 60, { waitMsMax: 70_000 })).kind, 'wait');
        bench.nowMs += 10_000;
        await settle(bench, own, 'a', 95);
        assert.equal((await ask(bench, own, policy, 'c', 60)).kind, 'refused');
        assert.equal((await ask(bench, own, policy, 'd')).kind, 'admitted');
      });
    });
  }
});

async function ask(
  { engine, nowMs }: Bench,
  organizationId: string,
  policy: AppliedLimit,
  operationId: string,
  cost = 0,
  over: Partial<AdmissionAsk> = {},
): Promise<AdmissionAnswer> {
  const candidates = [{ endpointId: 'e', paced: false, charges: [{ policy, cost }] }];
  const asked = askOf(organizationId, operationId, { candidates, ...over });
  const answer = await engine.admit(asked);
  if (answer.kind !== 'rebuild') return answer;
  await engine.initialize(organizationId, [{ policy, startMs: nowMs, amount: 0 }]);
  return engine.admit(asked);
}

async function settle({ engine }: Bench, organizationId: string, operationId: string, spendMicros: number) {
  const actual = { dispatched: true, tokens: 1, spendMicros };
  await engine.settle({ organizationId, operationId, actual, record: operationId });
}

async function used({ engine }: Bench, organizationId: string, policy: AppliedLimit): Promise<number> {
  const [usage] = await engine.usage(organizationId, [policy]);
  return usage?.used ?? Number.NaN;
}
