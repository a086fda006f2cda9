import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AppliedLimit } from '../domain/limits/limit.ts';
import { EVERY_REQUEST } from '../domain/limits/limits.fixture.ts';
import type { AdmissionAsk } from './engine.ts';
import { createMemoryEngine } from './memory/engine.ts';

const perMinute: AppliedLimit = {
  id: 'p',
  metric: 'requests',
  period: 'minute',
  limit: 60,
  counts: EVERY_REQUEST,
};
const INTERVAL_MS = 61_000 / 60;

/** Requests a to d in one paced queue: a is dispatched immediately, the others hold slots an interval apart. */
async function queueOfFour() {
  let nowMs = 1_000_000_000;
  const engine = createMemoryEngine({
    clock: { nowMs: () => nowMs },
    append: () => undefined,
    appendExpired: () => undefined,
    wake: () => undefined,
  });
  const ask = (operationId: string, policies: readonly AppliedLimit[]): AdmissionAsk => ({
    organizationId: 'o',
    operationId,
    queue: 'q',
    waitersMax: 100,
    candidates: [{ endpointId: 'e', paced: true, charges: policies.map((policy) => ({ policy, cost: 1 })) }],
    selection: 'preferred',
    waitMsMax: 300_000,
    leaseMs: 60_000,
    draft: '',
  });
  for (const id of ['a', 'b', 'c', 'd']) {
    await engine.admit(ask(id, [perMinute]));
    nowMs += 1;
  }
  return {
    at: (ms: number) => {
      nowMs = 1_000_000_000 + Math.ceil(ms);
    },
    again: (id: string, policies: readonly AppliedLimit[]) => engine.admit(ask(id, policies)),
  };
}

describe('a request that asks again at its slot', () => {
  for (const [change, policies] of [
    ['is gone', []],
    ['was raised', [{ ...perMinute, limit: 6_000 }]],
    ['was lowered', [{ ...perMinute, limit: 30 }]],
  ] as const) {
    it(`goes when the limit ${change}: those who came later do not delay it`, async () => {
      const { at, again } = await queueOfFour();
      for (const [index, id] of ['b', 'c', 'd'].entries()) {
        at((index + 1) * INTERVAL_MS + 1);
        assert.equal((await again(id, policies)).kind, 'admitted', id);
      }
    });
  }

  it('waits behind those who came earlier when the new limit has no room for it now', async () => {
    const { at, again } = await queueOfFour();
    const tight = [{ ...perMinute, limit: 1 }];
    const slotsMs: number[] = [];
    for (const [index, id] of ['b', 'c', 'd'].entries()) {
      const askedMs = (index + 1) * INTERVAL_MS + 1;
      at(askedMs);
      const answer = await again(id, tight);
      assert.ok(answer.kind === 'wait', id);
      slotsMs.push(askedMs + answer.waitMs);
    }
    assert.deepEqual(
      slotsMs.map((slotMs) => Math.floor(slotMs / 60_000)),
      [1, 2, 3],
    );
  });
});
