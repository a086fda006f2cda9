import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RelayError } from '../domain/relay-error.ts';
import { systemClock as clock } from '../kit/clock.ts';
import { askOf, UNITS } from './both-engines.fixture.ts';
import { deskParts } from './desk.fixture.ts';
import { type AdmissionDesk, createDesk } from './desk.ts';
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
