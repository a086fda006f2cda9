import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RelayError } from '../domain/relay-error.ts';
import { systemClock as clock } from '../kit/clock.ts';
import { askOf, MINUTE, UNITS } from './both-engines.fixture.ts';
import { deskParts } from './desk.fixture.ts';
import { type AdmissionDesk, createDesk } from './desk.ts';
import type { SettleAsk } from './engine.ts';
import { relayTo } from './line.ts';
import { createMemoryEngine } from './memory/engine.ts';

it('a reservation whose answer was lost is given back when the request ends', async () => {
  const appended: string[] = [];
  const engine = createMemoryEngine({
    clock,
    append: ({ record }) => void appended.push(record),
    appendExpired: () => undefined,
    line: relayTo(() => desk),
  });
  const desk: AdmissionDesk = createDesk({
    ...deskParts(),
    append: (_organizationId, record) => void appended.push(`never admitted: ${record}`),
    engine: {
      ...engine,
      async admit(ask) {
        await engine.admit(ask);
        throw new RelayError('store_unavailable');
      },
    },
  });
  const charges = [{ policy: UNITS, cost: 1 }];
  const { leaseMs: _leaseMs, ...ask } = askOf('acme', 'op', {
    candidates: [{ endpointId: 'e', paced: false, charges }],
  });
  const used = async () => (await engine.usage('acme', [UNITS]))[0]?.used;
  await assert.rejects(desk.admit(ask), { code: 'policy_unavailable' });
  assert.equal(await used(), 1);
  desk.settle('acme', 'op', { dispatched: false, tokens: 0, spendMicros: 0 }, 'record');
  assert.equal(await desk.stop(5_000), 0);
  assert.equal(await used(), 0);
  assert.equal(engine.leases(), 0);
  assert.deepEqual(appended, ['record']);
});

it('a waiter that was let go while it left is given back, although the store did not answer to that', async () => {
  const appended: string[] = [];
  const kept: string[] = [];
  let isAway = false;
  const engine = createMemoryEngine({
    clock,
    append: ({ record }) => void appended.push(record),
    appendExpired: () => undefined,
    line: { ...relayTo(() => desk), released: () => undefined },
  });
  const unlessAway = <T>(call: () => Promise<T>) =>
    isAway ? Promise.reject(new RelayError('store_unavailable')) : call();
  const parts = deskParts();
  const desk: AdmissionDesk = createDesk({
    ...parts,
    journal: { ...parts.journal, settlement: ({ operationId }) => void kept.push(operationId) },
    append: (_organizationId, record) => void appended.push(`never admitted: ${record}`),
    engine: {
      ...engine,
      void: (...given) => unlessAway(() => engine.void(...given)),
      settle: (settlement) => unlessAway(() => engine.settle(settlement)),
    },
  });
  const charges = [{ policy: { ...UNITS, limit: 1 }, cost: 1 }];
  const candidates = [{ endpointId: 'e', paced: false, charges }];
  const ask = (operationId: string) => {
    const { leaseMs: _leaseMs, ...asked } = askOf('acme', operationId, { candidates, waitMsMax: 5_000 });
    return asked;
  };
  const unused = { dispatched: false, tokens: 0, spendMicros: 0 };
  assert.equal((await desk.admit(ask('first'))).kind, 'admitted');
  assert.equal((await desk.admit(ask('second'))).kind, 'wait');
  await engine.settle({ organizationId: 'acme', operationId: 'first', actual: unused, record: 'first' });
  assert.equal((await engine.usage('acme', [UNITS]))[0]?.used, 1, 'the engine let the second go');
  isAway = true;
  desk.void('acme', 'second');
  desk.settle('acme', 'second', unused, 'second');
  assert.equal(await desk.stop(5_000), 0);
  assert.deepEqual(kept, ['second'], 'the journal delivers its end');
  assert.deepEqual(appended, ['first']);
});

/** A request whose first attempt failed, on an engine whose answers are lost while `isAway`. */
async function failedOnce(runsUnheard: boolean) {
  let isAway = false;
  const engine = createMemoryEngine({
    clock,
    append: () => undefined,
    appendExpired: () => undefined,
    line: relayTo(() => desk),
  });
  const parts = deskParts();
  const kept: SettleAsk[] = [];
  const desk: AdmissionDesk = createDesk({
    ...parts,
    journal: { ...parts.journal, settlement: (settlement) => void kept.push(settlement) },
    engine: {
      ...engine,
      async admit(ask) {
        if (!isAway || runsUnheard) await engine.admit(ask);
        if (isAway) throw new RelayError('store_unavailable');
        return engine.admit(ask);
      },
    },
  });
  const { leaseMs: _leaseMs, ...ask } = askOf('acme', 'op', {
    candidates: [{ endpointId: 'e', paced: false, charges: [{ policy: MINUTE, cost: 100 }] }],
  });
  assert.equal((await desk.admit(ask)).kind, 'admitted');
  isAway = true;
  return {
    desk,
    ask: { ...ask, release: { dispatched: true, tokens: 10, spendMicros: 0 } },
    async usedAtLast() {
      assert.equal(await desk.stop(5_000), 0);
      for (const settlement of kept) await engine.settle(settlement);
      return (await engine.usage('acme', [MINUTE]))[0]?.used;
    },
  };
}

for (const runsUnheard of [true, false])
  it(`a failed attempt counts once when the answer to its fallback was lost${runsUnheard ? ', which the engine ran' : ''}`, async () => {
    const { desk, ask, usedAtLast } = await failedOnce(runsUnheard);
    await assert.rejects(desk.admit(ask), { code: 'policy_unavailable' });
    desk.settle('acme', 'op', ask.release, 'record');
    assert.equal(await usedAtLast(), 10);
  });

for (const runsUnheard of [true, false])
  it(`a fallback without limits that is sent while the engine is away charges the failed attempt only its own use${runsUnheard ? ', if the engine ran its ask' : ''}`, async () => {
    const { desk, ask, usedAtLast } = await failedOnce(runsUnheard);
    const free = { ...ask, candidates: [{ endpointId: 'free', paced: false, charges: [] }] };
    assert.equal((await desk.admit(free)).kind, 'admitted');
    desk.settle('acme', 'op', { dispatched: true, tokens: 500, spendMicros: 0 }, 'record');
    assert.equal(await usedAtLast(), 10);
  });

it('a failed attempt counts once when its fallback waits, is let go unheard, and its wait fails', async () => {
  let isAway = false;
  const unlessAway = <T>(call: () => Promise<T>) =>
    isAway ? Promise.reject(new RelayError('store_unavailable')) : call();
  const engine = createMemoryEngine({
    clock,
    append: () => undefined,
    appendExpired: () => undefined,
    line: { ...relayTo(() => desk), released: () => undefined },
  });
  const desk: AdmissionDesk = createDesk({
    ...deskParts(),
    engine: { ...engine, admit: (ask) => unlessAway(() => engine.admit(ask)) },
  });
  const policy = { ...UNITS, limit: 1 };
  const candidates = [
    {
      endpointId: 'e',
      paced: false,
      charges: [
        { policy, cost: 1 },
        { policy: MINUTE, cost: 100 },
      ],
    },
  ];
  const ask = (operationId: string) => {
    const { leaseMs: _leaseMs, ...asked } = askOf('acme', operationId, { candidates, waitMsMax: 100 });
    return asked;
  };
  const used = (tokens: number) => ({ dispatched: true, tokens, spendMicros: 0 });
  assert.equal((await desk.admit(ask('op'))).kind, 'admitted');
  assert.equal((await desk.admit({ ...ask('next'), waitMsMax: 5_000 })).kind, 'wait');
  const waits = await desk.admit({ ...ask('op'), release: used(10) });
  assert.ok(waits.kind === 'wait');
  isAway = true;
  await engine.settle({ organizationId: 'acme', operationId: 'next', actual: used(0), record: 'next' });
  assert.deepEqual(
    (await engine.usage('acme', [policy, MINUTE])).map((each) => each.used),
    [1, 110],
    'the engine let it go',
  );
  assert.equal((await waits.ended).kind, 'failed');
  desk.settle('acme', 'op', used(10), 'record');
  assert.equal(await desk.stop(5_000), 0);
  assert.deepEqual(
    (await engine.usage('acme', [policy, MINUTE])).map((each) => each.used),
    [0, 10],
  );
});
