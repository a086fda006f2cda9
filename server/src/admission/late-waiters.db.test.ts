import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EVERY_REQUEST } from '../domain/limits/limits.fixture.ts';
import { privateRedis } from '../store/fixtures/private-redis.fixture.ts';
import { askOf, benches, newOrganization } from './both-engines.fixture.ts';

describe('late waiters', () => {
  const redis = privateRedis({ commandTimeoutMs: 10_000 });

  for (const [name, start] of benches(redis)) {
    for (const [period, spanMs, lateMs] of [
      ['second', 1_100, 130],
      ['minute', 61_000, 7_000],
    ] as const) {
      it(`a waiter that goes ${lateMs} ms late is charged when it goes, not when it was due: per ${period}, ${name}`, async () => {
        const bench = start();
        const organizationId = newOrganization();
        const policy = { id: 'p', metric: 'requests', period, limit: 1, counts: EVERY_REQUEST } as const;
        const candidates = [{ endpointId: 'e', paced: false, charges: [{ policy, cost: 1 }] }];
        const ask = (id: string, waitMsMax = 0) =>
          bench.engine.admit(askOf(organizationId, id, { candidates, waitMsMax }));
        assert.equal((await ask('first')).kind, 'admitted');
        assert.equal((await ask('late', 300_000)).kind, 'wait');
        // Nothing moves the line at the moment that it asked for.
        bench.nowMs += spanMs + lateMs;
        await bench.engine.step(organizationId);
        await new Promise((resolve) => setTimeout(resolve, 20));
        for (let turn = 0; turn < 200 && !bench.released.has('late'); turn += 1)
          await new Promise((resolve) => setTimeout(resolve, 20));
        assert.equal(bench.released.get('late')?.kind, 'admitted');
        const wentMs = bench.nowMs;
        // The moment at which the window would be empty, had it gone when it was due.
        bench.nowMs = wentMs - lateMs + spanMs;
        assert.equal((await ask('third')).kind, 'refused');
        bench.nowMs = wentMs + spanMs;
        assert.equal((await ask('fourth')).kind, 'admitted');
      });
    }
  }
});
