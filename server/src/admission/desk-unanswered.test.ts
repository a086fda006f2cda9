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
