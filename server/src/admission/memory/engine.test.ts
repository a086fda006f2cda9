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
let woken: string[] = [];
let expired: string[] = [];

beforeEach(() => {
  nowMs = START_MS;
  woken = [];
  expired = [];
  engine = createMemoryEngine({
    clock: { nowMs: () => nowMs },
    append: () => undefined,
    appendExpired: (draft) => expired.push(draft),
    wake: (operationId) => woken.push(operationId),
  });
});

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
  await engine.initialize(
    'o',
    openings.filter(({ policy }) => answer.policyIds.includes(policy.id)),
  );
  return engine.admit(ask);
}

const settle = (operationId: string, tokens = 1) =>
  engine.settle({
    organizationId: 'o',
    operationId,
    actual: { dispatched: true, tokens, spendMicros: 0 },
    record: operationId,
  });
const waitOf = (answer: AdmissionAnswer) => (answer.kind === 'wait' ? answer.waitMs : answer.kind);

describe('a sliding window', () => {
  it('admits up to the limit, then promises the moment the first has left it', async () => {
    const three = [charge('requests', 'minute', 3)];
    for (const id of ['a', 'b', 'c']) assert.equal((await admit(id, three)).kind, 'admitted');
    assert.equal(waitOf(await admit('d', three)), 61_000);
    // The same call at slot time confirms.
    nowMs += 61_000;
    assert.equal((await admit('d', three)).kind, 'admitted');
  });

  it('returns unused tokens to the bucket that was charged', async () => {
    const tokens = (cost: number) => [charge('tokens', 'minute', 100, cost)];
    await admit('a', tokens(90));
    nowMs += 10_000;
    assert.notEqual((await admit('b', tokens(50), { waitMsMax: 0 })).kind, 'admitted');
    await settle('a', 20);
    assert.equal((await admit('b', tokens(80))).kind, 'admitted');
    // The twenty leave the window with their own bucket, not at the settlement.
    nowMs += 51_000;
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
  const paced = (limit: number) => ({
    candidates: [{ endpointId: 'e', paced: true, charges: [charge('requests', 'minute', limit)] }],
  });

  it('spreads a burst over the period', async () => {
    const waits: (number | string)[] = [];
    for (const id of ['a', 'b', 'c', 'd']) waits.push(waitOf(await admit(id, [], paced(61))));
    assert.deepEqual(waits, ['admitted', 1_000, 2_000, 3_000]);
  });

  it('lets several share a millisecond when the limit is above a thousand a second', async () => {
    const waits: unknown[] = [];
    for (const id of ['a', 'b', 'c', 'd', 'e']) waits.push(waitOf(await admit(id, [], paced(122_000))));
    assert.deepEqual(waits, ['admitted', 'admitted', 1, 1, 2]);
  });

  it('never makes a request miss its deadline', async () => {
    await admit('a', [], paced(61));
    assert.equal((await admit('b', [], { ...paced(61), waitMsMax: 500 })).kind, 'admitted');
  });

  it('reuses the last place when its request is voided', async () => {
    await admit('a', [], paced(61));
    await admit('b', [], paced(61));
    await engine.void('o', 'b');
    assert.equal(waitOf(await admit('c', [], paced(61))), 1_000);
  });
});

describe('a calendar window', () => {
  it('ends at midnight UTC, and says so', async () => {
    nowMs = START_MS + 86_400_000 - 5_000;
    const day = [charge('requests', 'day', 1)];
    await admit('a', day);
    assert.equal(waitOf(await admit('b', day)), 5_000);
    const refused = await admit('c', day, { waitMsMax: 1_000, queue: 'lane:other' });
    assert.equal(refused.kind === 'refused' && refused.resetMs, 86_405_000);
  });

  it('is rebuilt before it is used', async () => {
    const [only] = [charge('spend', 'month', 100, 30)];
    const ask = { candidates: [{ endpointId: 'e', paced: false, charges: [only] }] };
    assert.ok(only);
    await engine.initialize('o', [{ policy: only.policy, startMs: START_MS, amount: 80 }]);
    assert.equal((await admit('a', [only], { ...ask, waitMsMax: 0 })).kind, 'refused');
  });
});

describe('refusals', () => {
  it('give a Retry-After at which the same request is accepted, and a second earlier is not', async () => {
    const one = [charge('requests', 'minute', 1)];
    await admit('a', one);
    const refused = await admit('b', one, { waitMsMax: 20_000 });
    assert.ok(refused.kind === 'refused');
    assert.equal(refused.policyId, 'requests/minute');
    assert.equal(refused.retryAfterMs, 41_000);
    nowMs += refused.retryAfterMs - 1_000;
    assert.equal((await admit('c', one, { waitMsMax: 20_000 })).kind, 'refused');
    nowMs += 1_000;
    assert.equal((await admit('d', one, { waitMsMax: 20_000 })).kind, 'wait');
  });

  it('reject a request that is larger than the limit without a wait', async () => {
    const refused = await admit('a', [charge('tokens', 'minute', 10, 11)]);
    assert.deepEqual(refused, {
      kind: 'refused',
      reason: 'exceeds_limit',
      retryAfterMs: 0,
      policyId: 'tokens/minute',
      resetMs: 0,
      window: { policyId: 'tokens/minute', used: 0, resetMs: 0 },
    });
  });

  it('bound how many may wait in one queue', async () => {
    const one = [charge('requests', 'minute', 1)];
    await admit('a', one);
    assert.equal((await admit('b', one, { waitersMax: 1 })).kind, 'wait');
    const refused = await admit('c', one, { waitersMax: 1, waitMsMax: 600_000 });
    assert.equal(refused.kind === 'refused' && refused.reason, 'queue_full');
  });
});

describe('order', () => {
  it('within a queue is that of arrival, even when a later request would fit earlier', async () => {
    const tokens = (cost: number) => [charge('tokens', 'minute', 100, cost)];
    await admit('a', tokens(90));
    assert.equal(waitOf(await admit('large', tokens(50))), 61_000);
    assert.equal(waitOf(await admit('small', tokens(5))), 61_000);
    assert.equal((await admit('elsewhere', tokens(5), { queue: 'lane:other' })).kind, 'admitted');
  });
});

describe('concurrency', () => {
  const one = [charge('concurrency', 'none', 1)];

  it('queues requests, wakes the first when a unit is free, and keeps the order', async () => {
    await admit('a', one);
    assert.equal((await admit('b', one)).kind, 'line');
    nowMs += 1;
    assert.equal((await admit('c', one)).kind, 'line');
    await settle('a');
    assert.deepEqual(woken, ['b']);
    assert.equal((await admit('c', one)).kind, 'line');
    assert.equal((await admit('b', one)).kind, 'admitted');
  });

  it('wakes the next when the first in line leaves', async () => {
    await admit('a', one);
    await admit('b', one);
    nowMs += 1;
    await admit('c', one);
    await settle('a');
    await engine.void('o', 'b');
    assert.deepEqual(woken, ['b', 'c']);
  });
});

describe('candidates', () => {
  const busy = { endpointId: 'busy', paced: false, charges: [charge('requests', 'minute', 1)] };
  const free = { endpointId: 'free', paced: false, charges: [] };

  it('preferred waits for the first that fits the budget; soonest takes the one that is free', async () => {
    await admit('a', busy.charges);
    const candidates = [busy, free];
    assert.equal((await admit('b', [], { candidates })).kind, 'wait');
    const soonest = await admit('c', [], { candidates, selection: 'soonest', queue: 'lane:other' });
    assert.deepEqual(soonest.kind === 'admitted' && soonest.candidate, 1);
  });

  it('in a cooldown are free when it ends', async () => {
    await engine.penalize('o', 'free', 2_000);
    assert.equal(waitOf(await admit('a', [], { candidates: [free] })), 2_000);
  });

  it('are chosen again when a cooldown starts while a request waits', async () => {
    await admit('a', busy.charges);
    await admit('b', [], { candidates: [busy, free] });
    await engine.penalize('o', 'busy', 300_000);
    nowMs += 61_000;
    const again = await admit('b', [], { candidates: [busy, free] });
    assert.equal(again.kind === 'admitted' && again.candidate, 1);
  });
});

describe('leases', () => {
  it('expire when they are not extended: a waiter gives its slot back, a dispatched one is posted at its estimate', async () => {
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

  it('of a request that was sent once are posted as that attempt, whether it waits again, is rejected or is voided', async () => {
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
    assert.deepEqual(expired.sort(), ['left', 'refused', 'second']);
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
      wake: () => undefined,
      shortWindowsUnknownUntilMs: START_MS + 62_000,
    });
  const ask = (operationId: string): AdmissionAsk => ({
    organizationId: 'o',
    operationId,
    queue: 'lane:caller',
    waitersMax: 100,
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
