import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { EVERY_REQUEST } from '../domain/limits/limits.fixture.ts';
import { createLog } from '../kit/log.ts';
import { SOMEBODY } from './ask.fixture.ts';
import { type AdmissionDesk, createDesk } from './desk.ts';
import type { DeskAsk } from './engine.ts';
import { relayTo } from './line.ts';
import { createLocalCooldowns } from './local-cooldowns.ts';
import { createMemoryEngine } from './memory/engine.ts';

const ACME = { organizationId: 'acme', userId: undefined };

describe('the live traffic of a process', () => {
  let nowMs: number;
  let desk: AdmissionDesk;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };

  beforeEach(() => {
    nowMs = 1_000_000;
    const nothing = () => undefined;
    desk = createDesk({
      engine: createMemoryEngine({
        clock,
        append: nothing,
        appendExpired: nothing,
        line: relayTo(() => desk),
      }),
      local: createLocalCooldowns({ clock, channel: { announce: nothing, subscribe: nothing } }),
      append: nothing,
      journal: { draft: nothing, settlement: nothing },
      openings: async () => [],
      clock,
      log: createLog('silent'),
    });
  });

  afterEach(() => desk.stop(1_000));

  function ask(operationId: string, over: Partial<DeskAsk> = {}): DeskAsk {
    return {
      organizationId: 'acme',
      operationId,
      queue: 'chat:anne',
      waitersMax: 10,
      ...SOMEBODY,
      candidates: ['first', 'second'].map((endpointId) => ({ endpointId, paced: false, charges: [] })),
      selection: 'preferred',
      waitMsMax: 60_000,
      about: { laneId: 'chat', userId: 'anne', keyId: null },
      draft: '',
      ...over,
    };
  }
  const USED = { dispatched: true, tokens: 0, spendMicros: 0 };
  const flow = (endpointId: string, waiting: number, longestWaitMs: number, inFlight: number) => ({
    laneId: 'chat',
    endpointId,
    waiting,
    longestWaitMs,
    inFlight,
  });

  it('is counted at the endpoint it was sent to until it is settled', async () => {
    await desk.admit(ask('one'));
    await desk.admit(ask('two'));
    assert.deepEqual((await desk.traffic(ACME)).flows, [flow('first', 0, 0, 2)]);
    desk.settle('acme', 'one', USED, '');
    assert.deepEqual((await desk.traffic(ACME)).flows, [flow('first', 0, 0, 1)]);
    desk.settle('acme', 'two', USED, '');
    assert.deepEqual((await desk.traffic(ACME)).flows, []);
  });

  it('moves to the next endpoint with a fallback', async () => {
    await desk.admit(ask('one'));
    const [, second] = ask('one').candidates;
    assert.ok(second);
    await desk.admit(ask('one', { candidates: [second], release: USED }));
    assert.deepEqual((await desk.traffic(ACME)).flows, [flow('second', 0, 0, 1)]);
  });

  it('waits since it began to wait, however often it asks, and then is in flight', async () => {
    const policy = {
      id: 'p',
      metric: 'concurrency',
      period: 'none',
      limit: 1,
      counts: EVERY_REQUEST,
    } as const;
    const [first] = ask('one').candidates;
    assert.ok(first);
    const candidates = [{ ...first, charges: [{ policy, cost: 1 }] }];
    await desk.admit(ask('one', { candidates }));
    nowMs += 5_000;
    assert.equal((await desk.admit(ask('two', { candidates }))).kind, 'wait');
    nowMs += 1_000;
    assert.equal((await desk.admit(ask('two', { candidates }))).kind, 'wait');
    nowMs += 500;
    await desk.admit(ask('three', { candidates }));
    assert.deepEqual((await desk.traffic(ACME)).flows, [flow('first', 2, 1_500, 1)]);
    desk.settle('acme', 'one', USED, '');
    assert.equal((await desk.admit(ask('two', { candidates }))).kind, 'admitted');
    nowMs += 250;
    assert.deepEqual((await desk.traffic(ACME)).flows, [flow('first', 1, 250, 1)]);
  });

  it('is counted by organization, by user, by key and by lane', async () => {
    await desk.admit(ask('one'));
    await desk.admit(ask('two', { about: { laneId: 'chat', userId: 'ben', keyId: 'app' } }));
    await desk.admit(ask('three', { about: { laneId: null, userId: 'ben', keyId: 'batch' } }));
    await desk.admit(ask('four', { organizationId: 'globex' }));
    // An internal ask of the gateway is not a request.
    const { about: _, ...bookkeeping } = ask('five');
    await desk.admit(bookkeeping);
    const direct = { ...flow('first', 0, 0, 1), laneId: null };
    assert.deepEqual((await desk.traffic(ACME)).flows, [flow('first', 0, 0, 2), direct]);
    assert.deepEqual((await desk.traffic({ ...ACME, userId: 'ben' })).flows, [
      flow('first', 0, 0, 1),
      direct,
    ]);
    assert.deepEqual((await desk.traffic({ ...ACME, userId: 'without requests' })).flows, []);
    assert.deepEqual((await desk.traffic({ ...ACME, keyId: 'batch' })).flows, [direct]);
    assert.deepEqual((await desk.traffic({ ...ACME, userId: 'anne', keyId: 'batch' })).flows, []);
  });

  const PER_MINUTE = {
    id: 'm',
    metric: 'requests',
    period: 'minute',
    limit: 1,
    counts: EVERY_REQUEST,
  } as const;
  const UNIT = { id: 'u', metric: 'concurrency', period: 'none', limit: 1, counts: EVERY_REQUEST } as const;
  const under = (policy: typeof PER_MINUTE | typeof UNIT) => ({
    candidates: [{ endpointId: 'first', paced: false, charges: [{ policy, cost: 1 }] }],
  });
  const laneOf = async (laneId: string | null, userId?: string) =>
    (await desk.traffic({ organizationId: 'acme', userId })).lanes.find((lane) => lane.laneId === laneId);

  it('tells how many wait by priority, and when the next can go', async () => {
    await desk.admit(ask('one', under(PER_MINUTE)));
    assert.equal(await laneOf('chat'), undefined);
    nowMs += 10_000;
    await desk.admit(ask('two', { ...under(PER_MINUTE), priority: 'interactive' }));
    await desk.admit(ask('three', { ...under(PER_MINUTE), priority: 'batch', waitMsMax: 200_000 }));
    const { waiting, nextSlotMs, fallbacks } = (await laneOf('chat')) ?? {};
    assert.deepEqual(waiting, { interactive: 1, standard: 0, batch: 1 });
    assert.equal(fallbacks, 0);
    // The window has room when the first request is a minute and up to two buckets old.
    assert.ok((nextSlotMs ?? 0) > 50_000 && (nextSlotMs ?? 0) <= 51_000, `${nextSlotMs} ms`);
    nowMs += 5_000;
    assert.equal((await laneOf('chat'))?.nextSlotMs, (nextSlotMs ?? 0) - 5_000);
  });

  it('knows no next slot behind a concurrency limit', async () => {
    await desk.admit(ask('one', under(UNIT)));
    await desk.admit(ask('two', under(UNIT)));
    const { waiting, nextSlotMs } = (await laneOf('chat')) ?? {};
    assert.deepEqual([waiting?.standard, nextSlotMs], [1, null]);
  });

  it('tells the limits that requests wait for, most requests first, by user', async () => {
    await desk.admit(ask('one', under(UNIT)));
    await desk.admit(ask('two', under(PER_MINUTE)));
    await desk.admit(ask('three', { ...under(PER_MINUTE), waitMsMax: 200_000 }));
    const ben = { laneId: 'chat', userId: 'ben', keyId: null };
    for (const id of ['four', 'five']) await desk.admit(ask(id, { ...under(UNIT), about: ben }));
    assert.deepEqual((await laneOf('chat'))?.limits, [
      { limit: UNIT, waiting: 2, userId: 'ben' },
      { limit: PER_MINUTE, waiting: 1, userId: 'anne' },
    ]);
    assert.deepEqual((await laneOf('chat', 'anne'))?.limits, [
      { limit: PER_MINUTE, waiting: 1, userId: 'anne' },
    ]);
    desk.settle('acme', 'one', USED, '');
    for (const id of ['four', 'five']) desk.settle('acme', id, { ...USED, dispatched: false }, '');
    assert.deepEqual((await laneOf('chat', 'ben'))?.limits, undefined);
  });

  it('counts the rejections of the last minute, by user', async () => {
    const anne = { laneId: 'chat', userId: 'anne', keyId: null };
    desk.rejected('acme', anne);
    desk.rejected('acme', anne);
    desk.rejected('globex', anne);
    assert.equal((await laneOf('chat', 'anne'))?.rejections, 2);
    assert.equal(await laneOf('chat', 'ben'), undefined);
    nowMs += 60_000;
    assert.equal(await laneOf('chat'), undefined);
  });

  it('counts the fallbacks of the last minute, by user, and not a second try of the same endpoint', async () => {
    const [first, second] = ask('').candidates;
    assert.ok(first && second);
    await desk.admit(ask('one'));
    await desk.admit(ask('one', { candidates: [second], release: USED }));
    await desk.admit(ask('two'));
    await desk.admit(ask('two', { candidates: [first], release: USED }));
    assert.equal((await laneOf('chat'))?.fallbacks, 1);
    assert.equal((await laneOf('chat', 'anne'))?.fallbacks, 1);
    assert.equal(await laneOf('chat', 'ben'), undefined);
    desk.settle('acme', 'one', USED, '');
    desk.settle('acme', 'two', USED, '');
    nowMs += 59_000;
    assert.equal((await laneOf('chat'))?.fallbacks, 1);
    nowMs += 1_000;
    assert.equal(await laneOf('chat'), undefined);
  });

  it('counts a fallback that waited once, when it goes', async () => {
    const unit = under(UNIT).candidates;
    await desk.admit(
      ask('holder', { candidates: unit, about: { laneId: null, userId: 'ben', keyId: null } }),
    );
    await desk.admit(ask('one', { candidates: [{ endpointId: 'other', paced: false, charges: [] }] }));
    assert.equal((await desk.admit(ask('one', { candidates: unit, release: USED }))).kind, 'wait');
    assert.equal((await laneOf('chat'))?.fallbacks, 0);
    desk.settle('acme', 'holder', USED, '');
    assert.equal((await desk.admit(ask('one', { candidates: unit }))).kind, 'admitted');
    assert.equal((await laneOf('chat'))?.fallbacks, 1);
  });
});
