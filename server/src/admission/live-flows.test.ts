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
      about: { laneId: 'chat', userId: 'anne' },
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
    assert.deepEqual(desk.flows(ACME), [flow('first', 0, 0, 2)]);
    desk.settle('acme', 'one', USED, '');
    assert.deepEqual(desk.flows(ACME), [flow('first', 0, 0, 1)]);
    desk.settle('acme', 'two', USED, '');
    assert.deepEqual(desk.flows(ACME), []);
  });

  it('moves to the next endpoint with a fallback', async () => {
    await desk.admit(ask('one'));
    const [, second] = ask('one').candidates;
    assert.ok(second);
    await desk.admit(ask('one', { candidates: [second], release: USED }));
    assert.deepEqual(desk.flows(ACME), [flow('second', 0, 0, 1)]);
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
    assert.deepEqual(desk.flows(ACME), [flow('first', 2, 1_500, 1)]);
    desk.settle('acme', 'one', USED, '');
    assert.equal((await desk.admit(ask('two', { candidates }))).kind, 'admitted');
    nowMs += 250;
    assert.deepEqual(desk.flows(ACME), [flow('first', 1, 250, 1)]);
  });

  it('is counted by organization, by user and by lane', async () => {
    await desk.admit(ask('one'));
    await desk.admit(ask('two', { about: { laneId: 'chat', userId: 'ben' } }));
    await desk.admit(ask('three', { about: { laneId: null, userId: 'ben' } }));
    await desk.admit(ask('four', { organizationId: 'globex' }));
    // An internal ask of the gateway is not a request.
    const { about: _, ...bookkeeping } = ask('five');
    await desk.admit(bookkeeping);
    const direct = { ...flow('first', 0, 0, 1), laneId: null };
    assert.deepEqual(desk.flows(ACME), [flow('first', 0, 0, 2), direct]);
    assert.deepEqual(desk.flows({ ...ACME, userId: 'ben' }), [flow('first', 0, 0, 1), direct]);
    assert.deepEqual(desk.flows({ ...ACME, userId: 'without requests' }), []);
  });
});
