import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EVERY_REQUEST } from '../domain/limits/limits.fixture.ts';
import { createLog } from '../kit/log.ts';
import { prefixOf } from '../store/redis/shards.ts';
import { SOMEBODY } from './ask.fixture.ts';
import type { AdmissionAsk } from './engine.ts';
import { createLeaseKeeper, LEASE_MS } from './lease-keeper.ts';
import type { LiveOperation, LiveOperations } from './live-operations.ts';

const POLICY = { id: 'p', metric: 'requests', period: 'day', limit: 9, counts: EVERY_REQUEST } as const;

function askOf(operationId: string, organizationId: string): AdmissionAsk {
  return {
    organizationId,
    operationId,
    queue: 'q',
    waitersMax: 10,
    ...SOMEBODY,
    candidates: [{ endpointId: 'e', paced: false, charges: [{ policy: POLICY, cost: 1 }] }],
    selection: 'soonest',
    waitMsMax: 0,
    leaseMs: LEASE_MS,
    draft: '{}',
  };
}

/** A keeper whose store does not know these operations. */
function keeperOf(unknown: readonly string[], windowsKnown = true, endsMeanwhile = false) {
  let nowMs = 100_000;
  const live: LiveOperations = new Map();
  const extended: string[][] = [];
  const restored: { operationId: string; candidate: number; agoMs: number }[] = [];
  const rebuilt: string[] = [];
  const asked: string[] = [];
  const known = new Set<string>(windowsKnown ? ['all'] : []);
  const keeper = createLeaseKeeper({
    engine: {
      async extend(_organizationId, operationIds) {
        extended.push([...operationIds]);
        return operationIds.filter((id) => unknown.includes(id));
      },
      async restore({ operationId }, candidate, agoMs) {
        if (known.size === 0) return false;
        restored.push({ operationId, candidate, agoMs });
        return true;
      },
      restoreUses: () => assert.fail('the windows still have what earlier attempts used'),
    },
    live,
    async rebuild() {
      // The ledger takes its time.
      nowMs += 300;
      const [operationId = ''] = unknown;
      if (endsMeanwhile) live.delete(operationId);
      rebuilt.push(operationId);
      known.add('all');
    },
    isRestarting: () => false,
    lost: (operationId) => asked.push(operationId),
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    log: createLog('silent'),
  });

  function add(operationId: string, over: Partial<LiveOperation> = {}, organizationId = 'acme'): void {
    const [stateSinceMs, dispatchedMs, leasedMs] = [nowMs, nowMs - 7_000, nowMs - 6_000];
    const times = { stateSinceMs, dispatchedMs, leasedMs };
    const ask = askOf(operationId, organizationId);
    const rest = {
      state: 'dispatched',
      candidate: 0,
      waitsFor: null,
      journaled: false,
      earlier: [],
    } as const;
    live.set(operationId, { ask, ...rest, ...times, ...over });
  }
  return { keeper, add, extended, restored, rebuilt, asked };
}

describe('the lease keeper', () => {
  it('writes a request again that the store lost, charged when it was dispatched', async () => {
    const { keeper, add, restored } = keeperOf(['one']);
    add('one', { candidate: 2 });
    add('two');
    await keeper.beat();
    assert.deepEqual(restored, [{ operationId: 'one', candidate: 2, agoMs: 7_000 }]);
  });

  it('rebuilds its windows first when the store lost them too', async () => {
    const { keeper, add, restored, rebuilt } = keeperOf(['one'], false);
    add('one');
    await keeper.beat();
    assert.deepEqual(rebuilt, ['one']);
    assert.deepEqual(restored, [{ operationId: 'one', candidate: 0, agoMs: 7_300 }]);
  });

  it('writes no request again that has ended while its windows were rebuilt', async () => {
    const { keeper, add, restored, rebuilt } = keeperOf(['one'], false, true);
    add('one');
    await keeper.beat();
    assert.deepEqual([rebuilt, restored], [['one'], []]);
  });

  it('asks again for a request that waits', async () => {
    const { keeper, add, restored, asked } = keeperOf(['one']);
    add('one', { state: 'waiting' });
    await keeper.beat();
    assert.deepEqual([asked, restored], [['one'], []]);
  });

  it('extends what is due, and asks each shard with requests at every heartbeat', async () => {
    const { keeper, add, extended } = keeperOf([]);
    const other = ['beta', 'gamma'].find((id) => prefixOf(id) !== prefixOf('acme')) ?? assert.fail();
    add('fresh', { leasedMs: 99_000 });
    add('due');
    add('elsewhere', { leasedMs: 99_000 }, other);
    add('later', { leasedMs: 99_000 }, other);
    await keeper.beat();
    assert.deepEqual(extended, [['due'], ['elsewhere']]);
  });

  it('writes all of a shard again, known to the store or not', async () => {
    const { keeper, add, restored, asked } = keeperOf([]);
    const other = ['beta', 'gamma'].find((id) => prefixOf(id) !== prefixOf('acme')) ?? assert.fail();
    add('one');
    add('two', { state: 'waiting' });
    add('elsewhere', {}, other);
    await keeper.restoreAll(prefixOf('acme'), () => true);
    assert.deepEqual([restored.map(({ operationId }) => operationId), asked], [['one'], ['two']]);
  });
});
