import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EVERY_REQUEST } from '../../domain/limits/limits.fixture.ts';
import { SOMEBODY } from '../ask.fixture.ts';
import type { AdmissionAsk, SettleAsk } from '../engine.ts';
import type { Batch } from './batch.ts';
import { type Batches, createBatches } from './batches.ts';

interface Sent {
  readonly batch: Batch;
  reply(): void;
  fail(error: Error): void;
}

describe('createBatches', () => {
  it('sends what comes in one turn of the loop as one call', async () => {
    const { batches, sent, turn } = start();
    const answers = [settle(batches, 'one'), settle(batches, 'two'), batches.void('shard', 'org', 'three')];
    assert.equal(sent.length, 0);
    await turn();
    assert.deepEqual(operationsOf(sent), [['one', 'two', 'three']]);
    sent[0]?.reply();
    assert.deepEqual(await Promise.all(answers), ['settled', 'settled', undefined]);
  });

  it('has at most two calls of a shard under way and collects the rest', async () => {
    const { batches, sent, turn } = start();
    for (const id of ['one', 'two', 'three', 'four']) {
      void settle(batches, id);
      await turn();
    }
    assert.deepEqual(operationsOf(sent), [['one'], ['two']]);
    sent[0]?.reply();
    await turn();
    assert.deepEqual(operationsOf(sent), [['one'], ['two'], ['three', 'four']]);
  });

  it('bounds a call, and has no operation in it twice', async () => {
    const { batches, sent, turn } = start();
    for (let index = 0; index < 65; index += 1) void settle(batches, `op-${index}`);
    await turn();
    assert.equal(operationsOf(sent)[0]?.length, 64);
    const other = start();
    void settle(other.batches, 'one');
    void other.batches.void('shard', 'org', 'one');
    await other.turn();
    assert.deepEqual(operationsOf(other.sent)[0], ['one']);
  });

  it('lets organizations take turns when not everything fits one call', async () => {
    const { batches, sent, turn } = start();
    for (let index = 0; index < 200; index += 1) void settle(batches, `busy-${index}`, 'busy');
    void settle(batches, 'one', 'acme');
    void settle(batches, 'two', 'acme');
    await turn();
    const [first = []] = operationsOf(sent);
    assert.equal(first.length, 64);
    assert.deepEqual(first.slice(0, 4), ['busy-0', 'one', 'busy-1', 'two']);
  });

  it('bounds the charges that one call reads beyond the first candidates', async () => {
    const { batches, sent, turn } = start();
    for (const id of ['one', 'two', 'three']) askWide(batches, id, 101);
    askWide(batches, 'huge', 1_000);
    await turn();
    await turn();
    sent[0]?.reply();
    await turn();
    assert.deepEqual(operationsOf(sent), [['one', 'two'], ['three'], ['huge']]);
  });

  it('fails every part of a call that fails, and continues', async () => {
    const { batches, sent, turn } = start();
    const parts = Promise.allSettled([settle(batches, 'one'), settle(batches, 'two')]);
    await turn();
    sent[0]?.fail(new Error('away'));
    assert.deepEqual(
      (await parts).map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    const next = settle(batches, 'three');
    await turn();
    sent[1]?.reply();
    assert.equal(await next, 'settled');
  });
});

function start() {
  const sent: Sent[] = [];
  const pending: Batch[] = [];
  const batches = createBatches({
    encode(batch) {
      pending.push(batch);
      const settled = batch.settles.map(() => 'settled' as const);
      return {
        args: [],
        organizationIds: [],
        read: () => ({ nowMs: 0, settled, answers: [], releases: [], nexts: new Map() }),
      };
    },
    send: () =>
      new Promise((resolve, reject) => {
        const batch = pending.shift();
        if (batch !== undefined) sent.push({ batch, reply: () => resolve(null), fail: reject });
      }),
    onReply: () => () => undefined,
    onFailure: () => undefined,
  });
  return { batches, sent, turn: () => new Promise((resolve) => setImmediate(() => setImmediate(resolve))) };
}

/** An ask with that many candidates, each with one limit. */
function askWide(batches: Batches, operationId: string, count: number): void {
  const policy = {
    id: 'limit',
    metric: 'requests',
    period: 'minute',
    limit: 1,
    counts: EVERY_REQUEST,
  } as const;
  const candidates = Array.from({ length: count }, (_, index) => {
    return { endpointId: `endpoint ${index}`, paced: false, charges: [{ policy, cost: 1 }] };
  });
  const ask: AdmissionAsk = {
    ...SOMEBODY,
    organizationId: 'org',
    operationId,
    queue: 'lane',
    waitersMax: 1,
    candidates,
    selection: 'soonest',
    waitMsMax: 0,
    leaseMs: 1_000,
    about: { laneId: null, userId: 'anne', keyId: null },
    draft: '',
  };
  const shape = { organizationId: 'org', text: '', charges: [] };
  void batches.ask('shard', ask, { ask, shape, costs: [] }).catch(() => undefined);
}

function settle(batches: Batches, operationId: string, organizationId = 'org') {
  const actual = { dispatched: true, tokens: 1, spendMicros: 1 };
  const ask: SettleAsk = { organizationId, operationId, actual, record: 'record' };
  return batches.settle('shard', ask);
}

function operationsOf(sent: readonly Sent[]): string[][] {
  return sent.map(({ batch: { settles, voids, asks } }) =>
    [...settles, ...voids, ...asks.map(({ ask }) => ask)].map(({ operationId }) => operationId),
  );
}
