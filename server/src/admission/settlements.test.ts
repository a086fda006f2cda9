import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { it } from 'node:test';
import { systemClock as clock } from '../kit/clock.ts';
import { askOf, UNITS } from './both-engines.fixture.ts';
import { deskParts } from './desk.fixture.ts';
import { type AdmissionDesk, createDesk } from './desk.ts';
import { relayTo } from './line.ts';
import { createMemoryEngine } from './memory/engine.ts';

it('whoever watches the process is told of a request once the engine has its settlement, or it needs none', async () => {
  const engine = createMemoryEngine({
    clock,
    append: () => undefined,
    appendExpired: () => undefined,
    line: relayTo(() => desk),
  });
  const answers = new EventTarget();
  const desk: AdmissionDesk = createDesk({
    ...deskParts(),
    append: () => undefined,
    engine: {
      ...engine,
      async settle(settlement) {
        await once(answers, 'now');
        return engine.settle(settlement);
      },
    },
  });
  const told: string[] = [];
  const note = (message: unknown) => told.push((message as { operationId: string }).operationId);
  subscribe('relay:settled', note);
  const candidates = [{ endpointId: 'e', paced: false, charges: [{ policy: UNITS, cost: 1 }] }];
  const { leaseMs: _leaseMs, ...ask } = askOf('acme', 'admitted', { candidates });
  assert.equal((await desk.admit(ask)).kind, 'admitted');
  const nothing = { dispatched: false, tokens: 0, spendMicros: 0 };
  desk.settle('acme', 'admitted', nothing, 'record');
  desk.settle('acme', 'never admitted', nothing, 'record');
  assert.deepEqual(told, ['never admitted']);
  answers.dispatchEvent(new Event('now'));
  assert.equal(await desk.stop(5_000), 0);
  assert.deepEqual(told, ['never admitted', 'admitted']);
  unsubscribe('relay:settled', note);
});
