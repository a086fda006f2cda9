import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { Charge } from '../../domain/limits/limit.ts';
import { EVERY_REQUEST } from '../../domain/limits/limits.fixture.ts';
import type { AdmissionAsk, AdmissionEngine } from '../engine.ts';
import { createMemoryEngine } from './engine.ts';

const START_MS = Date.UTC(2027, 0, 1);
const ONE_A_MINUTE: Charge = {
  policy: { id: 'm', metric: 'requests', period: 'minute', limit: 1, counts: EVERY_REQUEST },
  cost: 1,
};

function askOf(operationId: string, charges: readonly Charge[]): AdmissionAsk {
  return {
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
    waitMsMax: 0,
    leaseMs: 20_000,
    draft: operationId,
  };
}

describe('the engine in memory', () => {
  let nowMs = START_MS;
  let engine: AdmissionEngine;
  beforeEach(() => {
    nowMs = START_MS;
    engine = createMemoryEngine({
      clock: { nowMs: () => nowMs },
      append: () => undefined,
      appendExpired: () => undefined,
      line: { released: () => undefined, next: () => undefined, missed: () => undefined },
    });
  });
  const kindAt = async (afterMs: number, operationId: string, charges: readonly Charge[]) => {
    nowMs = START_MS + afterMs;
    return (await engine.admit(askOf(operationId, charges))).kind;
  };

  it('counts a restored request from the moment of its dispatch', async () => {
    assert.equal(await engine.restore(askOf('a', [ONE_A_MINUTE]), 0, 50_000), true);
    assert.equal(await kindAt(0, 'b', [ONE_A_MINUTE]), 'refused');
    assert.equal(await kindAt(15_000, 'c', [ONE_A_MINUTE]), 'admitted');
  });

  it('keeps a pause, whatever shorter one is asked for later', async () => {
    await engine.penalize('o', 'e', 2_000);
    await engine.penalize('o', 'e', 500);
    assert.equal(await kindAt(1_000, 'a', []), 'refused');
    assert.equal(await kindAt(2_000, 'b', []), 'admitted');
  });
});
