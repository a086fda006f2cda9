import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { prefixOf } from '../store/redis/shards.ts';
import { SOMEBODY } from './ask.fixture.ts';
import type { Decision } from './ask-again.ts';
import type { AdmissionAsk, DeskAnswer, Release } from './engine.ts';
import { createLine, type Line } from './line.ts';
import type { WaitEnd } from './waiters.ts';

const BUDGET_MS = 10_000;
const GO: Release = { kind: 'admitted', candidate: 0, windows: [], agoMs: 1 };
const NO: Release = {
  kind: 'refused',
  reason: 'wait_budget',
  retryAfterMs: 1_000,
  policyId: null,
  resetMs: 1_000,
  window: null,
};
const WAIT: DeskAnswer = { kind: 'wait', candidate: 0, withinMs: 5_000, firm: true, policyId: null };

describe('the line of a process', () => {
  let nowMs: number;
  let line: Line;
  let steps: string[];
  let asked: string[];
  let voided: string[];
  let taken: Decision[];
  let isLive: boolean;
  /** What the engine answers; null while it is unavailable. */
  let engine: ((ask: AdmissionAsk) => DeskAnswer) | null;

  beforeEach(() => {
    nowMs = 1_000;
    [steps, asked, voided, taken, isLive] = [[], [], [], [], true];
    engine = () => WAIT;
    mock.timers.enable({ apis: ['setTimeout'] });
    const answered = () => {
      if (engine === null) throw new Error('no store');
      return engine;
    };
    line = createLine({
      gaveUp: () => undefined,
      engine: {
        async step(organizationId) {
          steps.push(organizationId);
          answered();
        },
        async void(_organizationId, operationId) {
          voided.push(operationId);
        },
      },
      async decide(ask) {
        asked.push(ask.operationId);
        return { answer: answered()(ask), alone: false };
      },
      take(_ask, decision) {
        taken.push(decision);
        return decision.answer;
      },
      isLive: () => isLive,
      clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
      warn: () => undefined,
    });
  });

  afterEach(() => mock.timers.reset());

  function askOf(operationId: string, organizationId = 'acme'): AdmissionAsk {
    return {
      organizationId,
      operationId,
      queue: 'q',
      waitersMax: 10,
      ...SOMEBODY,
      candidates: [{ endpointId: 'e', paced: false, charges: [] }],
      selection: 'soonest',
      waitMsMax: BUDGET_MS,
      leaseMs: 20_000,
      draft: '',
    };
  }

  /** Null while it waits. */
  function join(operationId: string, organizationId?: string): { end: WaitEnd | null } {
    const waiter: { end: WaitEnd | null } = { end: null };
    line.asking(operationId);
    void line.join(askOf(operationId, organizationId), 5_000).then((end) => {
      waiter.end = end;
    });
    return waiter;
  }

  function kindsOf(waiters: readonly { end: WaitEnd | null }[]): (string | null)[] {
    return waiters.map(({ end }) => end?.kind ?? null);
  }

  async function pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 5) {
      nowMs += 5;
      mock.timers.tick(5);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it('tells a waiter what the engine decided, once', async () => {
    const [first, second] = [join('a'), join('b')];
    line.listener.released('a', GO);
    line.listener.released('a', NO);
    line.listener.released('b', NO);
    await pass(5);
    assert.deepEqual([first.end, second.end], [GO, NO]);
    assert.equal(taken.length, 2);
    await pass(2 * BUDGET_MS);
    assert.deepEqual(asked, []);
  });

  it('keeps a release that arrives before the answer that it is for', async () => {
    line.asking('a');
    line.listener.released('a', GO);
    assert.deepEqual(await line.join(askOf('a'), 5_000), GO);
    line.asking('b');
    line.listener.released('b', GO);
    line.asked('b');
    const later = join('b');
    await pass(100);
    assert.equal(later.end, null);
  });

  it('asks again when a release is older than the ask, which is about an earlier place', async () => {
    const older: Release = { ...GO, agoMs: 17 };
    line.asking('a');
    nowMs += 5;
    line.listener.released('a', older);
    nowMs += 30;
    const early = { end: null as WaitEnd | null };
    void line.join(askOf('a'), 5_000).then((end) => {
      early.end = end;
    });
    const waiter = join('b');
    line.listener.released('b', older);
    await pass(20);
    assert.deepEqual([early.end, waiter.end, asked.toSorted()], [null, null, ['a', 'b']]);
    engine = () => GO;
    nowMs += 30;
    line.listener.released('b', older);
    await pass(10);
    assert.equal(waiter.end?.kind, 'admitted');
  });

  it('asks again shortly before its deadline: a lost release is found, with its age', async () => {
    const waiter = join('a');
    engine = () => ({ ...GO, agoMs: 900 });
    await pass(4_890);
    assert.deepEqual(asked, []);
    await pass(20);
    assert.deepEqual(asked, ['a']);
    assert.ok(waiter.end?.kind === 'admitted' && waiter.end.agoMs >= 900);
  });

  it('asks with the rest of the wait budget', async () => {
    const waiter = join('a');
    let restMs = 0;
    engine = (ask) => {
      restMs = ask.waitMsMax;
      return ask.waitMsMax > 0 ? { ...WAIT, withinMs: ask.waitMsMax } : NO;
    };
    await pass(4_910);
    assert.ok(restMs > 5_090 && restMs <= 5_100, `${restMs}`);
    await pass(5_150);
    assert.deepEqual([asked.length, waiter.end], [3, NO]);
  });

  it('moves the line of each organization with one timer', async () => {
    for (const id of ['a', 'b', 'c']) join(id);
    for (const inMs of [500, 40, 200]) line.listener.next('acme', inMs);
    await pass(195);
    assert.deepEqual(steps, []);
    await pass(10);
    assert.deepEqual(steps, ['acme']);
    await pass(1_000);
    assert.deepEqual(steps, ['acme']);
    line.listener.next('acme', 10);
    line.listener.next('acme', null);
    line.listener.next('nobody', 10);
    await pass(100);
    assert.deepEqual(steps, ['acme']);
  });

  it('waits for a store that is away: steps until it answers, asks again for everybody and fails nobody', async () => {
    const waiters = ['a', 'b', 'c'].map((id) => join(id));
    engine = null;
    line.listener.next('acme', 10);
    await pass(800);
    assert.ok(steps.length >= 6 && steps.length < 30, `${steps.length}`);
    engine = (ask) => (ask.operationId === 'b' ? { ...GO, agoMs: 400 } : WAIT);
    await pass(110);
    assert.deepEqual(asked, ['a', 'b', 'c']);
    assert.deepEqual(kindsOf(waiters), [null, 'admitted', null]);
    const stepped = steps.length;
    await pass(1_000);
    assert.equal(steps.length, stepped, 'no polling');
  });

  it('fails a waiter whose wait budget ends while the store is away', async () => {
    const waiter = join('a');
    engine = null;
    await pass(BUDGET_MS - 5);
    assert.equal(waiter.end, null);
    await pass(100);
    assert.deepEqual(kindsOf([waiter]), ['failed']);
  });

  it('asks again for the waiters of a shard whose releases may be lost, and for no others', async () => {
    const other = Array.from({ length: 100 }, (_, index) => `other-${index}`).find(
      (id) => prefixOf(id) !== prefixOf('acme'),
    );
    assert.ok(other);
    join('a');
    join('b', other);
    line.listener.missed(prefixOf('acme'));
    await pass(20);
    assert.deepEqual([steps, asked], [['acme'], ['a']]);
  });

  it('asks again for a waiter that the store lost', async () => {
    join('a');
    line.lost('a');
    await pass(5);
    assert.deepEqual(asked, ['a']);
  });

  it('gives up the place that an ask made for a waiter that had left', async () => {
    const waiter = join('a');
    const { promise: answering, resolve: answer } = Promise.withResolvers<void>();
    line.lost('a');
    engine = () => {
      answer();
      line.stop('a');
      isLive = false;
      return WAIT;
    };
    await pass(5);
    await answering;
    await pass(5);
    assert.deepEqual([waiter.end, voided, taken], [{ kind: 'stopped' }, ['a'], []]);
  });

  it('ends every wait at once when the process stops', async () => {
    const waiters = ['a', 'b'].map((id) => join(id));
    line.close();
    await pass(5);
    assert.deepEqual(kindsOf(waiters), ['stopped', 'stopped']);
  });
});
