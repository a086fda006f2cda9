import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRandom } from '@relay/testbed/random';
import type { AppliedLimit } from '../../domain/limits/limit.ts';
import {
  type Arrival,
  candidate,
  createLineWorld,
  type LineWorld,
  limitOf,
  ORGANIZATION,
  type Outcome,
} from './line-world.fixture.ts';

const T0 = Date.UTC(2027, 0, 15, 12);
const perMinute = (limit: number) => limitOf('minute', 'requests', 'minute', limit);
const perSecond = (limit: number) => limitOf('second', 'requests', 'second', limit);

/** The limit was used to its end, evenly. */
async function warm({ engine }: LineWorld, policy: AppliedLimit): Promise<void> {
  const spanMs = policy.period === 'second' ? 1_100 : 61_000;
  const openings = Array.from({ length: policy.limit }, (_, index) => ({
    policy,
    startMs: Math.floor(T0 - spanMs + (index * spanMs) / policy.limit),
    amount: 1,
  }));
  await engine.initialize(ORGANIZATION, openings);
}

function waitsOf(outcomes: readonly Outcome[]): number[] {
  return outcomes
    .flatMap(({ servedMs, askedMs }) => (servedMs === null ? [] : [servedMs - askedMs]))
    .sort((a, b) => a - b);
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Arrivals at random, so many a minute. */
function poisson(perMinuteRate: number, untilMs: number, seed: number, each: (atMs: number) => void): void {
  const random = createRandom(seed);
  let atMs = T0;
  for (;;) {
    atMs += (-Math.log(random.integer(1, 1_000_000) / 1_000_000) * 60_000) / perMinuteRate;
    if (atMs >= untilMs) return;
    each(Math.floor(atMs));
  }
}

/** It is refused, and accepted when it is sent again after its Retry-After. */
async function acceptedLater(world: LineWorld, arrival: Arrival): Promise<void> {
  const { answer } = await world.arrive(arrival);
  assert.ok(answer?.kind === 'refused');
  await world.run(world.nowMs + answer.retryAfterMs);
  const again = await world.arrive(arrival);
  assert.notEqual(again.answer?.kind, 'refused', `after ${answer.retryAfterMs} ms`);
}

describe('the line', () => {
  it('serves a provider to its limit although every client gives up after three seconds and tries again', async () => {
    const world = createLineWorld(T0);
    const candidates = [candidate([perSecond(2)])];
    const client = (): Arrival => ({
      candidates,
      waitMsMax: 30_000,
      patienceMs: 3_000,
      heldMs: 400,
      ended: (how) => {
        const againMs = how === 'served' ? 500 : how === 'refused' ? 1_000 : 1;
        world.at(world.nowMs + againMs, () => world.arrive(client()));
      },
    });
    for (let index = 0; index < 12; index += 1) world.at(T0 + index, () => world.arrive(client()));
    await world.run(T0 + 15_000);
    assert.ok(world.served().length >= 27, `${world.served().length} of 29 calls`);
  });

  it('does not let one wait behind seven who left', async () => {
    const world = createLineWorld(T0);
    const candidates = [candidate([perSecond(1)])];
    await world.arrive({ candidates });
    for (let index = 0; index < 7; index += 1)
      await world.arrive({ candidates, waitMsMax: 30_000, patienceMs: 50 });
    const last = await world.arrive({ candidates, waitMsMax: 30_000 });
    await world.run(T0 + 30_000);
    assert.ok((last.servedMs ?? 0) - T0 <= 1_200, `${(last.servedMs ?? 0) - T0} ms`);
  });

  it('spreads a burst of 30 over its budget', async () => {
    const world = createLineWorld(T0);
    for (let index = 0; index < 30; index += 1)
      await world.arrive({
        candidates: [candidate([perMinute(60)])],
        waitMsMax: 5_000,
        caller: `key${index % 3}`,
      });
    await world.run(T0 + 10_000);
    const times = world.served();
    const most = Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 250).length));
    assert.equal(times.length, 30);
    assert.ok(most <= 3, `${most} in 250 ms`);
    assert.ok((times.at(-1) ?? 0) <= 5_000);
  });

  for (const paced of [true, false]) {
    it(`frees those who wait when a limit is raised, ${paced ? 'at the new pace' : 'at once where it is not paced'}`, async () => {
      const world = createLineWorld(T0);
      await warm(world, perMinute(60));
      for (let index = 0; index < 20; index += 1)
        await world.arrive({ candidates: [candidate([perMinute(60)], { paced })], waitMsMax: 30_000 });
      await world.run(T0 + 3_000);
      const before = world.served().length;
      await world.engine.changeLimits(ORGANIZATION, 2, [{ policyId: 'minute', limit: 600 }]);
      await world.run(T0 + 40_000);
      const after = world.served(T0 + 3_000).slice(before);
      assert.equal(before + after.length, 20);
      assert.ok((after[0] ?? 0) <= 100, `first after ${after[0]} ms`);
      assert.ok((after.at(-1) ?? 0) <= (paced ? 2_000 : 1), `last after ${after.at(-1)} ms`);
    });
  }

  it('spreads a burst over its budget at whichever moment of a cell of the plan it comes', async () => {
    const tokens = limitOf('tokens', 'tokens', 'minute', 3_000);
    for (let afterMs = 0; afterMs < 4_000; afterMs += 250) {
      const world = createLineWorld(T0 + afterMs);
      for (const index of Array.from({ length: 50 }).keys()) {
        const one = candidate([perMinute(30), tokens], { cost: 67 + (index % 3) * 35 });
        await world.arrive({ candidates: [one], waitMsMax: 12_000 });
      }
      await world.run(T0 + afterMs + 13_000);
      const served = world.served(T0 + afterMs);
      assert.ok(served.length >= 27, `${served.length} served, ${afterMs} ms after the start of a cell`);
      const first = served.filter((atMs) => atMs < 1_000).length;
      assert.ok(first <= 4, `${first} in the first second, ${afterMs} ms after the start of a cell`);
    }
  });

  it('frees everybody when a limit is removed, and ignores a change that is older', async () => {
    const world = createLineWorld(T0);
    await warm(world, perMinute(60));
    for (let index = 0; index < 20; index += 1)
      await world.arrive({ candidates: [candidate([perMinute(60)], { paced: false })], waitMsMax: 30_000 });
    await world.engine.changeLimits(ORGANIZATION, 0, [{ policyId: 'minute', limit: 600 }]);
    assert.ok(world.served().length <= 1);
    await world.engine.changeLimits(ORGANIZATION, 2, [{ policyId: 'minute', limit: null }]);
    assert.equal(world.served().length, 20);
  });

  it('lets an interactive request wait for a unit that a crowd of batch requests waits for', async () => {
    const world = createLineWorld(T0, { mixedClasses: true });
    const candidates = [candidate([limitOf('units', 'concurrency', 'none', 5)])];
    const batch: Partial<Arrival> = { priority: 'batch', waitMsMax: 60_000 };
    for (let index = 0; index < 150; index += 1) {
      world.at(T0 + index * 10, () => world.arrive({ candidates, heldMs: 500, ...batch }));
    }
    await world.run(T0 + 2_000);
    const chat = await world.arrive({ candidates, priority: 'interactive', waitMsMax: 10_000, heldMs: 500 });
    assert.equal(chat.answer?.kind, 'wait');
    const late = await world.arrive({ candidates, ...batch, waitMsMax: 10_000 });
    assert.equal(late.answer?.kind, 'refused', 'behind the crowd it would wait for longer than it can');
    await world.run(T0 + 3_000);
    assert.ok((chat.servedMs ?? 0) > 0, 'it goes before the crowd');
  });

  it('serves interactive requests ahead of 200 of batch, which keep a tenth', async () => {
    const waits: Record<string, number> = {};
    for (const mode of ['classes', 'first come']) {
      const isMixed = mode === 'classes';
      const world = createLineWorld(T0, { mixedClasses: isMixed });
      await warm(world, perMinute(60));
      const common = { candidates: [candidate([perMinute(60)])], waitMsMax: 600_000 };
      const batch: Outcome[] = [];
      for (let index = 0; index < 200; index += 1)
        batch.push(
          await world.arrive({
            ...common,
            caller: isMixed ? 'batch' : 'key',
            ...(isMixed ? { priority: 'batch' } : {}),
          }),
        );
      const chat: Outcome[] = [];
      poisson(40, T0 + 240_000, 7, (atMs) =>
        world.at(atMs, async () => {
          const over: Partial<Arrival> = isMixed
            ? { priority: 'interactive', caller: 'chat', waitMsMax: 30_000 }
            : {};
          chat.push(await world.arrive({ ...common, ...over }));
        }),
      );
      await world.run(T0 + 240_000);
      waits[mode] = quantile(waitsOf(chat), 0.99);
      if (!isMixed) continue;
      for (let minute = 0; minute < 4; minute += 1) {
        const within = ({ servedMs }: Outcome) =>
          servedMs !== null && Math.floor((servedMs - T0) / 60_000) === minute;
        const all = [...world.outcomes.values()].filter(within).length;
        const share = batch.filter(within).length;
        assert.ok(share >= all / 10 - 1, `batch had ${share} of ${all} in minute ${minute}`);
      }
    }
    const ratio = (waits['classes'] ?? 0) / (waits['first come'] ?? 1);
    assert.ok(ratio <= 0.1, `interactive waits ${ratio.toFixed(3)} of first come first served`);
  });

  it('keeps the earliest moment of a large request free from small ones behind it', async () => {
    const tokens = limitOf('tokens', 'tokens', 'minute', 60_000);
    const world = createLineWorld(T0);
    await world.engine.initialize(
      ORGANIZATION,
      Array.from({ length: 60 }, (_, index) => ({
        policy: tokens,
        startMs: T0 - 61_000 + index * 1_000,
        amount: 1_000,
      })),
    );
    const big = await world.arrive({
      candidates: [candidate([tokens], { cost: 20_000 })],
      waitMsMax: 60_000,
      caller: 'big',
    });
    for (let index = 0; index < 200; index += 1)
      world.at(T0 + 20 + index * 400, () =>
        world.arrive({
          candidates: [candidate([tokens], { cost: 500 })],
          waitMsMax: 60_000,
          caller: `small${index % 5}`,
        }),
      );
    await world.run(T0 + 120_000);
    const waitedMs = (big.servedMs ?? 0) - T0;
    assert.ok(waitedMs > 15_000 && waitedMs <= 21_000, `${waitedMs} ms`);
  });

  it('shares a limit between callers, however many requests each has waiting', async () => {
    const medians: number[] = [];
    for (const isAlone of [true, false]) {
      const world = createLineWorld(T0);
      await warm(world, perMinute(600));
      const arrival = { candidates: [candidate([perMinute(600)])], waitMsMax: 300_000 };
      await world.arrive({ ...arrival, caller: 'another' });
      for (let index = 0; !isAlone && index < 1_000; index += 1)
        await world.arrive({ ...arrival, caller: 'many' });
      const few: Outcome[] = [];
      for (let index = 0; index < 10; index += 1) few.push(await world.arrive({ ...arrival, caller: 'few' }));
      await world.run(T0 + 120_000);
      medians.push(quantile(waitsOf(few), 0.5));
    }
    const ratio = (medians[1] ?? 0) / (medians[0] ?? 1);
    assert.ok(ratio <= 2.2, `${medians.join(' and ')} ms`);
  });

  it('loses nobody of 500 when the store stands still for 800 ms', async () => {
    const world = createLineWorld(T0, { frozen: { fromMs: T0 + 3_000, untilMs: T0 + 3_800 } });
    await warm(world, perMinute(3_000));
    for (let index = 0; index < 500; index += 1)
      await world.arrive({
        candidates: [candidate([perMinute(3_000)])],
        waitMsMax: 30_000,
        caller: `key${index % 7}`,
      });
    await world.run(T0 + 40_000);
    assert.equal(world.served().length, 500);
  });

  for (const [limit, least] of [
    [perMinute(60), 0.97],
    [perSecond(20), 0.89],
  ] as const) {
    it(`uses ${limit.limit} a ${limit.period} to ${least * 100} % when twice as many ask`, async () => {
      const world = createLineWorld(T0);
      await warm(world, limit);
      const aMinute = limit.period === 'minute' ? limit.limit : limit.limit * 60;
      poisson(aMinute * 2, T0 + 120_000, 3, (atMs) =>
        world.at(atMs, () =>
          world.arrive({ candidates: [candidate([limit])], waitMsMax: 10_000, caller: `key${atMs % 5}` }),
        ),
      );
      await world.run(T0 + 120_000);
      const share = world.served().length / (aMinute * 2);
      assert.ok(share >= least, `${share}`);
    });
  }

  it('gives the soonest reservation to the first in order through others whose promises can move', async () => {
    const world = createLineWorld(T0);
    const common = { candidates: [candidate([perSecond(1)], { paced: false })] };
    await world.arrive(common);
    // They take the later moments, and leave.
    const fill = async (count: number, waitMsMax: number) => {
      for (let index = 0; index < count; index += 1)
        await world.arrive({ ...common, waitMsMax, patienceMs: 100, priority: 'batch' });
    };
    await fill(2, 4_400);
    const soonest = await world.arrive({ ...common, waitMsMax: 4_400 });
    await world.run(T0 + 100);
    await fill(8, 13_000);
    const second = await world.arrive({ ...common, waitMsMax: 13_000, lane: 'other' });
    await world.run(T0 + 200);
    const first = await world.arrive({ ...common, waitMsMax: 12_600, priority: 'interactive' });
    await world.run(T0 + 15_000);
    // The second can wait until the moment of the first, and the soonest until that of the second.
    const order = [first, soonest, second].map(({ servedMs }) => (servedMs ?? 0) - T0);
    assert.deepEqual(order, [1_100, 2_200, 3_300]);
  });

  it('does not hold a request back for a smaller one ahead that only the pace delays', async () => {
    const tokens = limitOf('tokens', 'tokens', 'minute', 1_000);
    const world = createLineWorld(T0);
    await world.engine.initialize(ORGANIZATION, [
      { policy: tokens, startMs: T0 - 60_000, amount: 50 },
      { policy: tokens, startMs: T0 - 30_000, amount: 950 },
    ]);
    await world.arrive({ candidates: [candidate([tokens, perSecond(2)], { cost: 20 })], waitMsMax: 60_000 });
    const larger = await world.arrive({
      candidates: [candidate([tokens], { cost: 40 })],
      waitMsMax: 60_000,
      caller: 'other',
    });
    world.at(T0 + 900, () => world.arrive({ candidates: [candidate([perSecond(2)])], caller: 'third' }));
    await world.run(T0 + 10_000);
    assert.equal((larger.servedMs ?? 0) - T0, 1_000);
  });

  it('tells a time from which the same request is accepted, while the line passes another limit', async () => {
    const world = createLineWorld(T0);
    await world.engine.initialize(ORGANIZATION, [
      { policy: perMinute(20), startMs: T0 - 26_000, amount: 10 },
      { policy: perMinute(20), startMs: T0 - 23_000, amount: 10 },
    ]);
    const candidates = [candidate([perMinute(20), perSecond(1)], { paced: false })];
    for (let index = 0; index < 14; index += 1) await world.arrive({ candidates, waitMsMax: 600_000 });
    await acceptedLater(world, { candidates, waitMsMax: 200 });
  });

  it('tells a time at which a class has left enough to the others', async () => {
    const world = createLineWorld(T0, { mixedClasses: true });
    const candidates = [candidate([perMinute(60)])];
    for (let index = 0; index < 60; index += 1)
      await world.arrive({
        candidates,
        waitMsMax: index % 2 === 0 ? 40_000 : 600_000,
        priority: index % 4 === 0 ? 'batch' : 'interactive',
      });
    await world.run(T0 + 20_000);
    await acceptedLater(world, { candidates, waitMsMax: 30_000, priority: 'batch' });
  });

  it('moves up when a request settles below its estimate', async () => {
    const tokens = limitOf('tokens', 'tokens', 'minute', 1_000);
    const world = createLineWorld(T0);
    await world.arrive({ candidates: [candidate([tokens], { cost: 900 })], heldMs: 2_000, usedShare: 0.1 });
    const next = await world.arrive({ candidates: [candidate([tokens], { cost: 800 })], waitMsMax: 90_000 });
    await world.run(T0 + 10_000);
    assert.equal(next.servedMs, T0 + 2_000);
  });

  it('asks for a step only when somebody may go, with a thousand in line', async () => {
    const world = createLineWorld(T0);
    await warm(world, perMinute(60));
    for (let index = 0; index < 1_000; index += 1)
      await world.arrive({
        candidates: [candidate([perMinute(60)])],
        waitMsMax: 600_000,
        caller: `key${index}`,
      });
    let steps = 0;
    const { step } = world.engine;
    Object.assign(world.engine, {
      step: (organizationId: string) => {
        steps += 1;
        return step(organizationId);
      },
    });
    const before = world.served().length;
    await world.run(T0 + 60_000);
    const served = world.served().length - before;
    assert.ok(served >= 58 && steps <= served * 2, `${steps} steps for ${served} requests`);
  });
});
