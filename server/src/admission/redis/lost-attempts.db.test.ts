import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AppliedLimit } from '../../domain/limits/limit.ts';
import { amountOf, METRICS } from '../../domain/limits/metric.ts';
import type { Actual, CandidateAsk, DeskAsk } from '../engine.ts';
import { type Fleet, policy, startFleet, until } from './lost-state.fixture.ts';

const RESERVED = { tokens: 100, spendMicros: 50 };
const LITTLE: Actual = { dispatched: true, tokens: 10, spendMicros: 5 };
const MUCH: Actual = { dispatched: true, tokens: 400, spendMicros: 900 };
const NOT_SENT: Actual = { dispatched: false, tokens: 0, spendMicros: 0 };

const limit = 1_000_000;
const ofFirst = [
  policy('requests of first', { metric: 'requests', period: 'day', limit }),
  policy('tokens of first', { metric: 'tokens', period: 'minute', limit }),
  policy('spend of first', { metric: 'spend', period: 'day', limit }),
];
const ofSecond = [
  policy('tokens of second', { metric: 'tokens', period: 'day', limit }),
  policy('units of second', { metric: 'concurrency', period: 'none', limit: 3 }),
];
const ofAll = [
  policy('requests', { metric: 'requests', period: 'minute', limit }),
  policy('tokens', { metric: 'tokens', period: 'day', limit }),
  policy('spend', { metric: 'spend', period: 'minute', limit }),
];
const OTHER = policy('other', { metric: 'requests', period: 'minute', limit });
const LIMITS = [...ofFirst, ...ofSecond, ...ofAll];

const candidate = (endpointId: string, limits: readonly AppliedLimit[]): CandidateAsk => ({
  endpointId,
  paced: false,
  charges: [...limits, ...ofAll].map((each) => ({
    policy: each,
    cost: METRICS[each.metric].held ? 1 : amountOf(each.metric, RESERVED),
  })),
});
const FIRST = candidate('first', ofFirst);
const SECOND = candidate('second', ofSecond);

describe('Redis that lost everything gets again what attempts used that failed', {
  concurrency: true,
}, () => {
  it('of requests in flight, waiting, refused and settled, each once', async (test) => {
    const fleet = await startFleet(test);
    const [{ desk }] = fleet.gateways;
    const ends: { ask: DeskAsk; actual: Actual }[] = [];
    /** One whose first attempt used this much, and that asks for another. */
    const falls = async (release: Actual, waitMsMax: number) => {
      const ask = fleet.ask([], { candidates: [FIRST] });
      assert.equal((await desk.admit(ask)).kind, 'admitted');
      const next = { ...ask, candidates: [SECOND], release, waitMsMax };
      const reply = await desk.admit(next);
      ends.push({ ask, actual: reply.kind === 'admitted' ? MUCH : release });
      return reply;
    };
    const settle = ({ ask, actual }: (typeof ends)[number]) =>
      desk.settle(ask.organizationId, ask.operationId, actual, ask.operationId);

    for (const release of [LITTLE, MUCH, NOT_SENT]) assert.equal((await falls(release, 0)).kind, 'admitted');
    // Settled, and not in the ledger yet.
    for (const release of [LITTLE, MUCH]) {
      settle(ends.shift() ?? assert.fail());
      assert.equal((await falls(release, 0)).kind, 'admitted');
    }
    assert.equal((await falls(LITTLE, 0)).kind, 'refused');
    assert.equal((await falls(MUCH, 120_000)).kind, 'wait');
    await until('two are settled', async () => (await fleet.stream()).length === 2);

    const before = await usedOf(fleet);
    assert.equal(before['requests of first'], 6, 'one was not sent');
    for (const again of ['once', 'twice']) {
      await fleet.redis.run(['FLUSHALL']);
      await fleet.whenOpen(fleet.gateways[1], fleet.ask([OTHER]));
      await until(
        'those in flight have their units',
        async () => (await usedOf(fleet))['units of second'] === 3,
      );
      assert.deepEqual(await usedOf(fleet), before, again);
    }
    const { ask: waiting } = ends.at(-1) ?? assert.fail();
    desk.void(waiting.organizationId, waiting.operationId);
    for (const each of ends) settle(each);
    await until('all are settled', async () => (await fleet.stream()).length === 7);
    assert.deepEqual(await usedOf(fleet), {
      'requests of first': 6,
      'tokens of first': 3 * LITTLE.tokens + 3 * MUCH.tokens,
      'spend of first': 3 * LITTLE.spendMicros + 3 * MUCH.spendMicros,
      'tokens of second': 5 * MUCH.tokens,
      'units of second': 0,
      requests: 11,
      tokens: 3 * LITTLE.tokens + 8 * MUCH.tokens,
      spend: 3 * LITTLE.spendMicros + 8 * MUCH.spendMicros,
    });
  });
});

async function usedOf(fleet: Fleet): Promise<Record<string, number>> {
  const used: Record<string, number> = {};
  for (const each of LIMITS) used[each.id] = await fleet.used(each);
  return used;
}
