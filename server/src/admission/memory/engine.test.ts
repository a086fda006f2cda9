import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { LimitMetric, LimitPeriod } from '@relay/contract';
import type { Charge } from '../../domain/limits/limit.ts';
import { EVERY_REQUEST } from '../../domain/limits/limits.fixture.ts';
import type { AdmissionAnswer, AdmissionAsk, AdmissionEngine } from '../engine.ts';
import { createMemoryEngine } from './engine.ts';

const START_MS = Date.UTC(2027, 0, 1);
let nowMs = START_MS;
let engine: AdmissionEngine;
let expired: string[] = [];
let released: [string, string, number][] = [];
let nextMs: number | null = null;

/** Moves the line whenever it asks for it. */
async function run(untilMs: number): Promise<void> {
  while (nextMs !== null && nextMs <= untilMs) {
    nowMs = Math.max(nowMs, nextMs);
    await engine.step('o');
  }
  nowMs = untilMs;
}

function charge(metric: LimitMetric, period: LimitPeriod, limit: number, cost = 1): Charge {
  return { policy: { id: `${metric}/${period}`, metric, period, limit, counts: EVERY_REQUEST }, cost };
}

async function admit(
  operationId: string,
  charges: readonly Charge[],
  over: Partial<AdmissionAsk> = {},
): Promise<AdmissionAnswer> {
  const ask: AdmissionAsk = {
    organizationId: 'o',
    operationId,
    queue: 'lane:caller',
    waitersMax: 100,
    caller: 'caller',
    priority: 'standard',
    mixedClasses: false,
    configVersion: 1,
    candidates: [{ endpointId: 'e', paced: false, charges }],
    selection: 'preferred',
    waitMsMax: 120_000,
    leaseMs: 20_000,
    draft: operationId,
    ...over,
  };
  const answer = await engine.admit(ask);
  if (answer.kind !== 'rebuild') return answer;
  const openings = charges.map(({ policy }) => ({ policy, startMs: START_MS, amount: 0 }));
  const wanted = openings.filter(({ policy }) => answer.policyIds.includes(policy.id));
  await engine.initialize('o', wanted);
  return engine.admit(ask);
}

const settle = (operationId: string, tokens = 1) =>
  engine.settle({
    organizationId: 'o',
    operationId,
    actual: { dispatched: true, tokens, spendMicros: 0 },
    record: operationId,
  });

describe('the memory engine', () => {
  beforeEach(() => {
    nowMs = START_MS;
    expired = [];
    released = [];
    nextMs = null;
    engine = createMemoryEngine({
      clock: { nowMs: () => nowMs },
      append: () => undefined,
      appendExpired: (draft) => expired.push(draft),
      line: {
        released: (operationId, release) => released.push([operationId, release.kind, nowMs - START_MS]),
        next: (_, inMs) => {
          nextMs = inMs === null ? null : nowMs + inMs;
        },
        missed: () => undefined,
      },
    });
  });

  describe('a sliding window', () => {
    it('admits up to the limit, then lets the next go when the first has left it', async () => {
      const three = [charge('requests', 'minute', 3)];
      for (const id of ['a', 'b', 'c']) assert.equal((await admit(id, three)).kind, 'admitted');
      assert.deepEqual(await admit('d', three), {
        kind: 'wait',
        candidate: 0,
        firm: true,
        policyId: 'requests/minute',
        withinMs: 120_000,
      });
      await run(START_MS + 120_000);
      assert.deepEqual(released, [['d', 'admitted', 61_000]]);
    });

    it('returns unused tokens to the bucket that was charged', async () => {
      const tokens = (cost: number) => [charge('tokens', 'minute', 100, cost)];
      await admit('a', tokens(90));
      nowMs += 30_000;
      assert.equal((await admit('b', tokens(50), { waitMsMax: 0 })).kind, 'refused');
      await settle('a', 20);
      assert.equal((await admit('b', tokens(80))).kind, 'admitted');
      nowMs += 31_000;
      assert.equal((await admit('c', tokens(20), { waitMsMax: 0 })).kind, 'admitted');
    });

    it('charges usage beyond the estimate to the current bucket', async () => {
      const tokens = (cost: number) => [charge('tokens', 'minute', 100, cost)];
      await admit('a', tokens(10));
      await settle('a', 95);
      assert.equal((await admit('b', tokens(10), { waitMsMax: 0 })).kind, 'refused');
    });
  });

  describe('pacing', () => {
    const paced = (limit: number): Partial<AdmissionAsk> => ({
      candidates: [{ endpointId: 'e', paced: true, charges: [charge('requests', 'minute', limit)] }],
    });

    it('spreads a burst over the period', async () => {
      for (const id of ['a', 'b', 'c']) await admit(id, [], paced(61));
      await run(START_MS + 5_000);
      assert.deepEqual(released, [
        ['b', 'admitted', 1_000],
        ['c', 'admitted', 2_000],
      ]);
    });

    it('never makes a request miss its deadline', async () => {
      await admit('a', [], paced(61));
      await admit('b', [], { ...paced(61), waitMsMax: 500 });
      await run(START_MS + 500);
      assert.equal(released[0]?.[0], 'b');
      assert.equal((await admit('c', [], { ...paced(61), waitMsMax: 0 })).kind, 'admitted');
    });
  });

  describe('a calendar window', () => {
    it('ends at midnight UTC, and says so', async () => {
      const day = [charge('requests', 'day', 1)];
      nowMs = START_MS + 86_395_000;
      await admit('a', day);
      await admit('b', day);
      const refused = await admit('c', day, { waitMsMax: 1_000 });
      assert.equal(refused.kind === 'refused' && refused.policyId, 'requests/day');
      await run(START_MS + 86_401_000);
      assert.deepEqual(released, [['b', 'admitted', 86_400_000]]);
    });

    it('is rebuilt before it is used', async () => {
      const only = charge('requests', 'month', 5);
      const ask = { candidates: [{ endpointId: 'e', paced: false, charges: [only] }] };
      const answer = await engine.admit({
        ...({ organizationId: 'o', operationId: 'a', queue: 'q', waitersMax: 1, caller: 'c' } as const),
        ...({ priority: 'standard', mixedClasses: false, configVersion: 1, selection: 'soonest' } as const),
        ...{ ...ask, waitMsMax: 0, leaseMs: 1, draft: '' },
      });
      assert.deepEqual(answer, { kind: 'rebuild', policyIds: ['requests/month'] });
      await engine.initialize('o', [{ policy: only.policy, startMs: START_MS, amount: 5 }]);
      assert.equal((await admit('a', [only], { waitMsMax: 0 })).kind, 'refused');
    });
  });

  describe('refusals', () => {
    it('give a Retry-After at which the same request is accepted', async () => {
      const one = [charge('requests', 'minute', 1)];
      await admit('a', one);
      const refused = await admit('b', one, { waitMsMax: 20_000 });
      assert.ok(refused.kind === 'refused' && refused.retryAfterMs <= 42_000, JSON.stringify(refused));
      nowMs += refused.retryAfterMs;
      assert.equal((await admit('c', one, { waitMsMax: 20_000 })).kind, 'wait');
    });

    it('reject a request that is larger than the limit without a wait', async () => {
      const refused = await admit('a', [charge('tokens', 'minute', 10, 11)]);
      assert.ok(refused.kind === 'refused');
      assert.deepEqual(
        [refused.reason, refused.retryAfterMs, refused.policyId],
        ['exceeds_limit', 0, 'tokens/minute'],
      );
      const closed = await admit('b', [charge('concurrency', 'none', 0)]);
      assert.equal(closed.kind === 'refused' && closed.reason, 'exceeds_limit');
    });

    it('bound how many may wait in one queue', async () => {
      const one = [charge('requests', 'minute', 1)];
      await admit('a', one);
      assert.equal((await admit('b', one, { waitersMax: 1 })).kind, 'wait');
      const refused = await admit('c', one, { waitersMax: 1, waitMsMax: 600_000 });
      assert.equal(refused.kind === 'refused' && refused.reason, 'queue_full');
    });

    it('at the deadline are told to whoever lost its promise', async () => {
      const one = [charge('requests', 'minute', 1)];
      await admit('a', one);
      await admit('b', one, { waitMsMax: 61_500 });
      await engine.penalize('o', 'e', 600_000);
      await run(START_MS + 100_000);
      assert.deepEqual(released, [['b', 'refused', 61_500]]);
    });
  });

  describe('concurrency', () => {
    const one = [charge('concurrency', 'none', 1)];

    it('lets the next go when a unit is free, first come first served, and is never a firm promise', async () => {
      await admit('a', one);
      const answer = await admit('b', one);
      assert.ok(answer.kind === 'wait' && !answer.firm && answer.policyId === 'concurrency/none');
      await admit('c', one);
      await settle('a');
      assert.deepEqual(released, [['b', 'admitted', 0]]);
      await engine.void('o', 'b');
      assert.deepEqual(released.at(-1), ['c', 'admitted', 0]);
    });

    it('refuses who would likely wait longer than its budget', async () => {
      await admit('a', one);
      nowMs += 10_000;
      await settle('a');
      await admit('b', one);
      assert.equal((await admit('c', one, { waitMsMax: 12_000 })).kind, 'wait');
      const refused = await admit('d', one, { waitMsMax: 12_000 });
      assert.ok(refused.kind === 'refused' && refused.reason === 'wait_budget');
      assert.equal(refused.retryAfterMs, 1_000);
    });
  });

  describe('candidates', () => {
    const busy = { endpointId: 'busy', paced: false, charges: [charge('requests', 'minute', 1)] };
    const free = { endpointId: 'free', paced: false, charges: [] };

    it('preferred waits for the first that can be promised; soonest takes the one that is free', async () => {
      const candidates = [busy, free];
      await admit('a', busy.charges);
      const waits = await admit('b', [], { candidates });
      assert.ok(waits.kind === 'wait' && waits.candidate === 0);
      const soonest = await admit('c', [], { candidates, selection: 'soonest' });
      assert.ok(soonest.kind === 'admitted' && soonest.candidate === 1);
      assert.deepEqual(released, []);
    });

    it('in a cooldown are free when it ends', async () => {
      await engine.penalize('o', 'free', 2_000);
      await admit('a', [], { candidates: [free] });
      await run(START_MS + 5_000);
      assert.deepEqual(released, [['a', 'admitted', 2_000]]);
    });

    it('are any once the promise at the preferred one is lost', async () => {
      await admit('a', busy.charges);
      await admit('b', [], { candidates: [busy, free], waitMsMax: 62_000 });
      await engine.penalize('o', 'busy', 600_000);
      await run(START_MS + 62_000);
      assert.equal(released[0]?.[1], 'admitted');
    });
  });

  describe('a waiter', () => {
    const one = [charge('requests', 'minute', 1)];

    it('that asks again gets the same answer with the time that is left', async () => {
      await admit('a', one);
      const first = await admit('b', one);
      nowMs += 5_000;
      assert.deepEqual(await admit('b', one), { ...first, withinMs: 115_000 });
      await run(START_MS + 61_000);
      const again = await admit('b', one);
      assert.ok(again.kind === 'admitted' && again.agoMs === 0);
    });

    it('whose attempt failed is ahead of those who came later', async () => {
      const two = [charge('requests', 'minute', 2)];
      await admit('early', two);
      await admit('other', two);
      await admit('late', two);
      const release = { dispatched: true, tokens: 0, spendMicros: 0 };
      assert.equal((await admit('early', two, { release })).kind, 'wait');
      await run(START_MS + 200_000);
      assert.deepEqual(
        released.map(([id]) => id),
        ['early', 'late'],
      );
    });
  });

  describe('leases', () => {
    it('expire when they are not extended: a waiter gives its place back, a dispatched one is posted at its estimate', async () => {
      const two = [charge('tokens', 'minute', 20, 10)];
      await admit('in flight', two);
      await admit('also', two);
      await admit('waiting', two);
      nowMs += 10_000;
      assert.deepEqual(await engine.extend('o', ['also', 'unheard of'], 20_000), ['unheard of']);
      nowMs += 11_000;
      assert.equal(await engine.sweep(), 2);
      assert.deepEqual(expired, ['in flight']);
      const [usage] = await engine.usage('o', [two[0]?.policy ?? assert.fail()]);
      assert.deepEqual([usage?.used, usage?.reserved], [20, 0]);
    });

    it('asked for twice are given once', async () => {
      const two = [charge('requests', 'minute', 2)];
      await admit('a', two);
      await admit('a', two);
      assert.equal((await admit('b', two, { waitMsMax: 0 })).kind, 'admitted');
    });

    it('of a failed attempt keep the request and give back the tokens, in the step that asks for the next', async () => {
      const charges = [charge('requests', 'minute', 2), charge('tokens', 'minute', 10, 10)];
      await admit('a', charges);
      const release = { dispatched: true, tokens: 0, spendMicros: 0 };
      assert.equal((await admit('a', charges, { release, waitMsMax: 0 })).kind, 'admitted');
      assert.equal((await admit('b', [charge('requests', 'minute', 2)], { waitMsMax: 0 })).kind, 'refused');
    });

    it('of a request that was sent once are posted with what the attempt used, whether it waits again, is rejected or is voided', async () => {
      const one = [charge('tokens', 'minute', 10, 10)];
      const release = { dispatched: true, tokens: 10, spendMicros: 0 };
      for (const operationId of ['waits', 'refused', 'left', 'settled', 'never sent'])
        await admit(operationId, []);
      const second = { release, draft: 'second', waitMsMax: 400_000 };
      assert.equal((await admit('waits', one, second)).kind, 'admitted');
      assert.equal((await admit('waits', one, { ...second, draft: 'third' })).kind, 'wait');
      assert.equal((await admit('refused', one, { ...second, waitMsMax: 0 })).kind, 'refused');
      assert.equal((await admit('left', one, second)).kind, 'wait');
      await engine.void('o', 'left');
      assert.equal((await admit('settled', one, { ...second, waitMsMax: 0 })).kind, 'refused');
      assert.equal(await settle('settled'), 'settled');
      const unused = { ...second, release: { ...release, dispatched: false } };
      assert.equal((await admit('never sent', one, unused)).kind, 'wait');
      nowMs += 21_000;
      assert.equal(await engine.sweep(), 4);
      assert.deepEqual(expired.sort(), ['second', 'second', 'third']);
    });
  });

  describe('short windows after a start', () => {
    const three = [charge('requests', 'minute', 3)];
    const policy = charge('requests', 'minute', 3).policy;
    const startedAgain = () =>
      createMemoryEngine({
        clock: { nowMs: () => nowMs },
        append: () => undefined,
        appendExpired: () => undefined,
        line: { released: () => undefined, next: () => undefined, missed: () => undefined },
        shortWindowsUnknownUntilMs: START_MS + 62_000,
      });
    const ask = (operationId: string): AdmissionAsk => ({
      organizationId: 'o',
      operationId,
      queue: 'lane:caller',
      waitersMax: 100,
      caller: 'caller',
      priority: 'standard',
      mixedClasses: false,
      configVersion: 1,
      candidates: [{ endpointId: 'e', paced: false, charges: three }],
      selection: 'preferred',
      waitMsMax: 0,
      leaseMs: 20_000,
      draft: operationId,
    });

    it('are rebuilt before they are used, each dispatch at its own time', async () => {
      const again = startedAgain();
      assert.deepEqual(await again.admit(ask('a')), { kind: 'rebuild', policyIds: [policy.id] });
      // Reading a window does not make it known.
      assert.equal((await again.usage('o', [policy]))[0]?.used, 0);
      assert.deepEqual(again.unknown('o', [policy]), [policy]);
      const at = (agoMs: number, amount: number) => ({ policy, startMs: START_MS - agoMs, amount });
      await again.initialize('o', [at(30_000, 0), at(30_000, 2), at(1_000, 1)]);
      assert.equal((await again.admit(ask('a'))).kind, 'refused');
      // The first two leave the window, the third stays in it.
      nowMs += 31_500;
      assert.equal((await again.admit(ask('a'))).kind, 'admitted');
      assert.equal((await again.admit(ask('b'))).kind, 'admitted');
      assert.equal((await again.admit(ask('c'))).kind, 'refused');
    });

    it('that are initialized twice stay as they are', async () => {
      const again = startedAgain();
      await again.initialize('o', [{ policy, startMs: START_MS, amount: 0 }]);
      await again.initialize('o', [{ policy, startMs: START_MS, amount: 3 }]);
      assert.equal((await again.admit(ask('a'))).kind, 'admitted');
    });

    it('start empty once they cannot hold earlier dispatches', async () => {
      const again = startedAgain();
      nowMs += 62_000;
      assert.equal((await again.admit(ask('a'))).kind, 'admitted');
    });
  });
});
