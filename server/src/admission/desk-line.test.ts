import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { EVERY_REQUEST } from '../domain/limits/limits.fixture.ts';
import { snapshot } from '../domain/snapshot.fixture.ts';
import type { LimitPolicy } from '../domain/snapshot.ts';
import { systemClock as clock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { SOMEBODY } from './ask.fixture.ts';
import { deskParts } from './desk.fixture.ts';
import { type AdmissionDesk, createDesk } from './desk.ts';
import type { DeskAsk, LineListener } from './engine.ts';
import { createFollowLimits } from './follow-limits.ts';
import { relayTo } from './line.ts';
import { createMemoryEngine, type MemoryEngine } from './memory/engine.ts';
import type { WaitEnd } from './waiters.ts';

const USED = { dispatched: true, tokens: 0, spendMicros: 0 };
/** One request in 22 buckets of 50 ms. */
const PERIOD_MS = 1_100;
const log = createLog('silent');
const RULE: LimitPolicy = {
  id: 'limit',
  scopeType: 'global',
  scopeId: null,
  metric: 'requests',
  period: 'second',
  limitValue: 1,
  enabled: true,
};

describe('those who wait at the desk', () => {
  let engine: MemoryEngine;
  let desk: AdmissionDesk;
  let startMs: number;
  /** What the engine tells, before the desk hears it. */
  let overheard: Partial<LineListener>;

  beforeEach(() => {
    const nothing = () => undefined;
    overheard = {};
    engine = createMemoryEngine({
      clock,
      append: nothing,
      appendExpired: nothing,
      line: relayTo(() => ({ line: { ...desk.line, ...overheard } })),
    });
    desk = createDesk({ ...deskParts(), engine });
    startMs = performance.now();
  });
  afterEach(() => desk.stop(1_000));

  function ask(operationId: string, waitMsMax = 30_000): DeskAsk {
    const { metric, period, limitValue } = RULE;
    const policy = { id: RULE.id, metric, period, limit: limitValue, counts: EVERY_REQUEST };
    return {
      organizationId: 'acme',
      operationId,
      queue: 'chat:anne',
      waitersMax: 1_000,
      ...SOMEBODY,
      candidates: [{ endpointId: 'e', paced: false, charges: [{ policy, cost: 1 }] }],
      selection: 'soonest',
      waitMsMax,
      draft: '',
    };
  }

  /** `ended`: how its wait ended, and after how long. */
  async function waiting(
    operationId: string,
    waitMsMax?: number,
  ): Promise<{ ended: Promise<[WaitEnd, number]> }> {
    const reply = await desk.admit(ask(operationId, waitMsMax));
    assert.ok(reply.kind === 'wait');
    return { ended: reply.ended.then((end) => [end, performance.now() - startMs]) };
  }

  it('move up when one before them leaves', async () => {
    assert.equal((await desk.admit(ask('first'))).kind, 'admitted');
    const leaving = Array.from({ length: 7 }, (_, index) => `leaves-${index}`);
    for (const id of leaving) await waiting(id);
    const last = await waiting('last');
    for (const id of leaving) desk.void('acme', id);
    const [end, afterMs] = await last.ended;
    assert.equal(end.kind, 'admitted');
    assert.ok(afterMs < 1.5 * PERIOD_MS, `${afterMs} ms`);
    assert.deepEqual(desk.counts(), { waiting: 0, dispatched: 2 });
  });

  it('move up when one settles as never sent', async () => {
    await desk.admit(ask('first'));
    const second = await waiting('second');
    desk.settle('acme', 'first', { ...USED, dispatched: false }, '');
    const [end, afterMs] = await second.ended;
    assert.equal(end.kind, 'admitted');
    assert.ok(afterMs < 200, `${afterMs} ms`);
  });

  it('go before their deadline although their release was lost, and with its age', async () => {
    await desk.admit(ask('first'));
    let lost = 0;
    overheard.released = () => {
      lost += 1;
    };
    const second = await waiting('second', 3_000);
    const [end, afterMs] = await second.ended;
    assert.equal(lost, 1);
    assert.ok(end.kind === 'admitted' && end.agoMs > 1_000, JSON.stringify(end));
    assert.ok(afterMs < 3_000, `${afterMs} ms`);
  });

  it('are not paced again when they give back a release that came too late', async () => {
    const paced = (asked: DeskAsk): DeskAsk => ({
      ...asked,
      candidates: asked.candidates.map((candidate) => ({
        ...candidate,
        paced: true,
        charges: candidate.charges.map(({ policy, cost }) => ({ policy: { ...policy, limit: 2 }, cost })),
      })),
    });
    await desk.admit(paced(ask('first')));
    const reply = await desk.admit(paced(ask('second')));
    assert.ok(reply.kind === 'wait');
    assert.equal((await reply.ended).kind, 'admitted');
    const unused = { ...USED, dispatched: false };
    assert.equal((await desk.admit({ ...paced(ask('second')), release: unused })).kind, 'admitted');
  });

  it('are refused at their deadline when no unit is given back', async () => {
    const policy = {
      id: 'units',
      metric: 'concurrency',
      period: 'none',
      limit: 1,
      counts: EVERY_REQUEST,
    } as const;
    const candidates = [{ endpointId: 'e', paced: false, charges: [{ policy, cost: 1 }] }];
    await desk.admit({ ...ask('first'), candidates });
    const reply = await desk.admit({ ...ask('second', 300), candidates });
    assert.ok(reply.kind === 'wait' && !reply.firm);
    const end = await reply.ended;
    assert.ok(end.kind === 'refused' && end.reason === 'wait_budget' && end.policyId === 'units');
    assert.ok(performance.now() - startMs < 500);
    assert.deepEqual(desk.counts(), { waiting: 0, dispatched: 1 });
  });

  it('are refused for good by a limit of 0 on concurrency', async () => {
    const none = {
      id: 'units',
      metric: 'concurrency',
      period: 'none',
      limit: 0,
      counts: EVERY_REQUEST,
    } as const;
    const candidates = [{ endpointId: 'e', paced: false, charges: [{ policy: none, cost: 1 }] }];
    const reply = await desk.admit({ ...ask('first'), candidates });
    assert.ok(reply.kind === 'refused');
    assert.deepEqual([reply.reason, reply.policyId], ['exceeds_limit', 'units']);
  });

  for (const [change, limitPolicies] of [
    ['raised', [{ ...RULE, limitValue: 1_000 }]],
    ['removed', []],
  ] as const) {
    it(`go at once when their limit is ${change}`, async () => {
      await desk.admit(ask('first'));
      const all = await Promise.all(['a', 'b', 'c'].map((id) => waiting(id)));
      const follow = createFollowLimits({ desk, keyPoliciesOf: () => [], log });
      const changedMs = performance.now() - startMs;
      await follow({
        ...snapshot({ limitPolicies: [...limitPolicies] }),
        organizationId: 'acme',
        version: 2,
      });
      for (const [end, afterMs] of await Promise.all(all.map(({ ended }) => ended))) {
        assert.equal(end.kind, 'admitted');
        assert.ok(afterMs - changedMs < 100, `${afterMs - changedMs} ms`);
      }
    });
  }

  it('do not bring back a limit that was removed when they ask again with what they arrived with', async () => {
    await desk.admit(ask('first'));
    const second = await waiting('second');
    const follow = createFollowLimits({ desk, keyPoliciesOf: () => [], log });
    await follow({ ...snapshot({}), organizationId: 'acme', version: 2 });
    assert.equal((await second.ended)[0].kind, 'admitted');
    // Its release came too late to use.
    const again = await desk.admit({ ...ask('second'), release: { ...USED, dispatched: false } });
    assert.equal(again.kind, 'admitted');
    const third = await desk.admit(ask('third'));
    assert.equal(third.kind, 'admitted');
  });

  it('are not sent faster to an endpoint that is deleted with its limit', async () => {
    const counts = { ...EVERY_REQUEST, scopeType: 'endpoint', scopeId: 'e' } as const;
    const ofEndpoint = (asked: DeskAsk): DeskAsk => ({
      ...asked,
      candidates: asked.candidates.map((candidate) => ({
        ...candidate,
        charges: candidate.charges.map(({ policy, cost }) => ({ policy: { ...policy, counts }, cost })),
      })),
    });
    await desk.admit(ofEndpoint(ask('first')));
    for (const id of ['a', 'b']) assert.equal((await desk.admit(ofEndpoint(ask(id)))).kind, 'wait');
    const follow = createFollowLimits({ desk, keyPoliciesOf: () => [], log });
    await follow({ ...snapshot({}), organizationId: 'acme', version: 2 });
    assert.equal(desk.counts().waiting, 2);
  });

  it('are told of a changed budget of their key', async () => {
    await desk.admit(ask('first'));
    const budget = {
      id: 'budget',
      kind: 'api_key',
      subjectId: 'key',
      targetType: 'global',
      targetId: null,
      metric: 'requests',
      period: 'second',
      limitValue: 50,
    } as const;
    const counts = { ...EVERY_REQUEST, keyId: 'key' };
    const policy = { id: 'budget', metric: 'requests', period: 'second', limit: 1, counts } as const;
    const candidates = [{ endpointId: 'e', paced: false, charges: [{ policy, cost: 1 }] }];
    await desk.admit({ ...ask('with the key'), candidates });
    const reply = await desk.admit({ ...ask('waits'), candidates });
    assert.ok(reply.kind === 'wait');
    const asked: unknown[] = [];
    const keyPoliciesOf = (...place: unknown[]) => {
      asked.push(place);
      return [budget];
    };
    const follow = createFollowLimits({ desk, keyPoliciesOf, log });
    await follow({ ...snapshot({}), organizationId: 'acme', version: 7 });
    assert.deepEqual(asked, [['acme', 'key', 7]]);
    assert.equal((await reply.ended).kind, 'admitted');
    assert.ok(performance.now() - startMs < 500);
  });

  it('are told again of a changed limit while the store is unavailable', async () => {
    await desk.admit(ask('first'));
    const second = await waiting('second');
    let failures = 2;
    const changeLimits: AdmissionDesk['changeLimits'] = async (...change) => {
      failures -= 1;
      if (failures >= 0) throw new Error('no store');
      return desk.changeLimits(...change);
    };
    const follow = createFollowLimits({ desk: { ...desk, changeLimits }, keyPoliciesOf: () => [], log });
    await follow({ ...snapshot({}), organizationId: 'acme', version: 2 });
    const [end] = await second.ended;
    assert.deepEqual([end.kind, failures], ['admitted', -1]);
  });
});
