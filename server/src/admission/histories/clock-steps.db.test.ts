import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Charge } from '../../domain/limits/limit.ts';
import { EVERY_REQUEST } from '../../domain/limits/limits.fixture.ts';
import { nothingAside } from '../../kit/set-aside.fixture.ts';
import { privateRedis } from '../../store/fixtures/private-redis.fixture.ts';
import { SOMEBODY } from '../ask.fixture.ts';
import { windowStartMs } from '../calendar-window.ts';
import type { AdmissionAnswer, AdmissionEngine } from '../engine.ts';
import { createMemoryEngine } from '../memory/engine.ts';
import { createRedisEngine } from '../redis/engine.ts';
import { createScripts } from '../redis/scripts.ts';
import { listening } from './history.fixture.ts';

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2027, 0, 31, 23, 40, 0);
const LIMIT = 10;
const RELEASED_MS_MAX = 10_000;

/** An engine on a clock that is `aheadMs` ahead of the true time. */
interface Subject {
  readonly engine: AdmissionEngine;
  readonly clock: { trueMs: number; aheadMs: number };
  readonly told: ReturnType<typeof listening>;
}

const charge = (period: 'minute' | 'hour', limit: number): Charge => {
  return { policy: { id: period, metric: 'requests', period, limit, counts: EVERY_REQUEST }, cost: 1 };
};

/** Plays one story and returns everything that the engine answered. */
async function play({ engine, clock, told }: Subject): Promise<unknown[]> {
  const said: unknown[] = [];
  let serial = 0;
  const charges = [charge('minute', LIMIT), charge('hour', 1_000)];
  const [, hour] = charges;
  assert.ok(hour);
  async function ask(waitMsMax = 0): Promise<AdmissionAnswer> {
    serial += 1;
    const answer = await engine.admit({
      ...SOMEBODY,
      organizationId: 'org',
      operationId: `op-${serial}`,
      queue: 'lane:caller',
      waitersMax: 100,
      candidates: [{ endpointId: 'endpoint', paced: false, charges }],
      selection: 'soonest',
      waitMsMax,
      leaseMs: waitMsMax > 0 ? 120_000 : 30_000,
      draft: `draft-${serial}`,
    });
    said.push(answer);
    return answer;
  }
  /** As a gateway does when the engine asks for it. */
  async function initialize(amount: number): Promise<void> {
    assert.deepEqual(await ask(), { kind: 'rebuild', policyIds: ['hour'] });
    const startMs = windowStartMs('hour', clock.trueMs + clock.aheadMs);
    await engine.initialize('org', [{ policy: hour?.policy ?? assert.fail(), startMs, amount }]);
  }
  async function fill(): Promise<number> {
    let admitted = 0;
    while ((await ask()).kind === 'admitted') admitted += 1;
    return admitted;
  }

  await initialize(0);
  assert.equal(await fill(), LIMIT);

  // The store is replaced by one whose clock is right.
  clock.aheadMs = 0;
  clock.trueMs += 1_000;
  await initialize(LIMIT);
  const refused = await ask();
  assert.ok(refused.kind === 'refused' && refused.retryAfterMs <= 61_000, JSON.stringify(refused));
  assert.ok(refused.retryAfterMs > 58_000, 'what was let in before the step still counts');
  const waits = await ask(70_000);
  assert.ok(waits.kind === 'wait' && waits.withinMs <= 70_000, JSON.stringify(waits));
  const usage = await engine.usage('org', [hour.policy]);
  said.push(usage);
  assert.equal(usage[0]?.resetMs, 20 * 60_000 - 1_000);

  clock.trueMs += 31_000;
  assert.equal(await engine.sweep(), LIMIT, 'leases end after their time, not an hour later');
  clock.trueMs += 30_000;
  await engine.step('org');
  const untilMs = performance.now() + RELEASED_MS_MAX;
  while (told.releases.size === 0 && performance.now() < untilMs) await new Promise(setImmediate);
  assert.deepEqual([...told.releases.keys()], [`op-${serial}`], 'who waited goes');
  assert.equal(await fill(), LIMIT - 1);
  said.push(await engine.usage('org', [hour.policy]));

  // A second step, by little, and one into the hour before.
  clock.aheadMs = -700;
  assert.equal((await ask()).kind, 'refused');
  clock.aheadMs = -HOUR_MS;
  await initialize(3);
  said.push(await engine.usage('org', [hour.policy]));
  clock.trueMs += 62_000;
  assert.equal(await fill(), LIMIT);
  return said;
}

describe('a clock that goes back', () => {
  const redis = privateRedis();

  function subject(create: (nowMs: () => number, told: Subject['told']) => AdmissionEngine): Subject {
    const clock = { trueMs: START_MS, aheadMs: HOUR_MS };
    const nowMs = () => clock.trueMs + clock.aheadMs;
    const told = listening(nowMs);
    return { engine: create(nowMs, told), clock, told };
  }

  it('freezes no window and empties none, in both engines alike', async () => {
    const memory = subject((nowMs, { line }) =>
      createMemoryEngine({ clock: { nowMs }, append: () => undefined, appendExpired: () => undefined, line }),
    );
    const remote = subject((nowMs, { line }) =>
      createRedisEngine({
        aside: nothingAside,
        scripts: createScripts(redis()),
        gatewayId: 'gateway',
        nowMs,
        line,
      }),
    );
    const [expected, found] = [await play(memory), await play(remote)];
    assert.deepEqual(found, expected);
  });
});
