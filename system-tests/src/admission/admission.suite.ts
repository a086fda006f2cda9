import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { IS_LONG } from '@relay/testbed/long-form';
import { reportFigures } from '../harness/figures.ts';
import { liveKeys } from '../harness/live-state.ts';
import { quantile } from '../harness/provider-view.ts';
import { severalProcesses, storeServers } from '../harness/stores.ts';
import { afterMs, until } from '../harness/until.ts';
import { answersOf, ask, errorOf } from './ask.ts';
import { leaveTheLine, sendAtOnce } from './at-once.ts';
import { type CrowdSize, sendCrowd } from './crowd.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { ledgerSums } from './ledger-sums.ts';
import { type LostGateway, loseGateway } from './lost-gateway.ts';
import { changeUnderWaiters, rateHeaders, untilEverywhere } from './policy-change.ts';
import { checkRetryAfter, RETRY_SHAPES, type Retry } from './retry-after.ts';
import { spendTooMuch } from './spend-cap.ts';
import { askDuringOutage, rowsOf, serveDuringOutage, untilServed } from './store-loss.ts';

// Limits over several server processes, judged by what the provider itself saw. The full size takes minutes:
// RELAY_SYSTEM_LONG=1 npm run system -- admission

const PROCESSES = 4;
const CROWD: CrowdSize = IS_LONG
  ? { requests: 2_000, requestsPerMinute: 100, tokensPerMinute: 10_000, waitMsMax: 90_000, travelMs: 1_500 }
  : { requests: 200, requestsPerMinute: 30, tokensPerMinute: 3_000, waitMsMax: 12_000, travelMs: 500 };
const LOST = IS_LONG ? 500 : 100;
/** The delay that the machine may add to a slot; below 50 ms on an idle machine. */
const LATENESS_P99_MS_MAX = 1_000;
const SLOT_LATENESS_MEDIAN_MS_MAX = 50;
const WAKE_MEDIAN_MS_MAX = 50;
const SURVIVOR_MS_MAX = 500;
const CHANGE_MS_MAX = 2_000;
/** The short form tells promptly from never on a machine that others use too. */
const OUTAGE_MS_MAX = IS_LONG ? 1_500 : 4_000;
const COUNTED_MS_MAX = 7_000;
const LEASE_OVER_MS_MAX = 30_000;

const figures: Record<string, unknown> = {
  processes: PROCESSES,
  requests: 0,
  exceeded: 0,
  late: 0,
  untrue_retry_after: 0,
  out_of_order: 0,
  overspent_micros: 0,
};

function add(name: string, amount: number): void {
  figures[name] = Number(figures[name] ?? 0) + amount;
}

after(() => reportFigures(figures));

/** Checks that run on one Redis and on a cluster. */
function coreChecks(fleet: () => Fleet, where: string): void {
  it('a crowd is served in order, in time, spread out, and never faster than the limits', async () => {
    using watch = fleet().watch();
    const model = 'crowd';
    await fleet().lane(model, { lane: { default_max_wait_ms: CROWD.waitMsMax } });
    const ids = await fleet().policies(
      { metric: 'requests', period: 'minute', limit_value: CROWD.requestsPerMinute },
      { metric: 'tokens', period: 'minute', limit_value: CROWD.tokensPerMinute },
    );
    const result = await sendCrowd(fleet(), model, CROWD);
    await fleet().remove(...ids);
    figures[`crowd_${where}`] = { ...result, strange: result.strange.length };
    add('requests', CROWD.requests);
    add('exceeded', result.exceeded);
    add('late', result.late);
    add('out_of_order', result.outOfOrder);
    assert.deepEqual(result.strange, []);
    assert.equal(result.accepted + result.refused, CROWD.requests);
    assert.ok(result.accepted >= CROWD.requestsPerMinute * 0.9, `only ${result.accepted} were accepted`);
    assert.equal(result.exceeded, 0, `${result.mostRequests} requests, ${result.mostTokens} tokens`);
    assert.equal(result.outOfOrder, 0);
    assert.equal(result.unnamedRefusals, 0);
    assert.ok(result.gapMsMedian >= result.paceIntervalMs * 0.9, `median gap ${result.gapMsMedian} ms`);
    watch.inTime(result.late === 0, `${result.late} were late`);
    watch.within(LATENESS_P99_MS_MAX, result.latenessP99Ms, 'the lateness of most');
  });

  it('a budget worth fifty requests pays for fifty of two hundred, whichever process they come to', async () => {
    const periods = ['day', 'month'] as const;
    const results = await Promise.all(
      periods.map((period) => spendTooMuch(fleet(), `spend-${period}`, period)),
    );
    for (const [index, result] of results.entries()) {
      const period = periods[index];
      figures[`spend_${period}_${where}`] = { ...result, strange: result.strange.length };
      add('requests', result.served + result.exhausted);
      add('overspent_micros', result.overspentMicros);
      assert.deepEqual(result.strange, []);
      assert.equal(result.overspentMicros, 0);
      assert.equal(result.served, 50);
      assert.equal(result.exhausted, 150);
      assert.equal(result.usedMicros, result.billedMicros, 'the window is not what the provider bills');
    }
  });
}

describe('limits on one Redis', () => {
  let fleet: Fleet;
  let lost: LostGateway;
  let retries: readonly Retry[];

  before(async () => {
    fleet = await startFleet({ processes: PROCESSES });
  });
  after(() => fleet.stop());

  coreChecks(() => fleet, 'redis');

  severalProcesses.it('a gateway dies with requests under way and others waiting', async () => {
    lost = await loseGateway(fleet, 'lost', LOST);
  });

  it('no more are under way than a bound on concurrency says, and a free unit is taken at once', async () => {
    using watch = fleet.watch();
    const patient = { lane: { default_max_wait_ms: 30_000 } };
    await fleet.lane('bounded', { ...patient, endpoint: { max_concurrency: 5 } });
    await fleet.lane('few', patient);
    const bounded = await sendAtOnce(fleet, { model: 'bounded', limit: 5, requests: 100, workMs: 100 });
    const [policyId = ''] = await fleet.policies({ metric: 'concurrency', period: 'none', limit_value: 3 });
    const few = await sendAtOnce(fleet, { model: 'few', limit: 3, requests: 60, workMs: 100, policyId });
    const leaving = await leaveTheLine(fleet, { model: 'few', limit: 3, workMs: 1_500 });
    await fleet.remove(policyId);
    figures['concurrency'] = {
      most_in_flight: [bounded.mostInFlight, few.mostInFlight],
      wake_median_ms: bounded.idleMedianMs,
      wake_p99_ms: bounded.idleP99Ms,
    };
    add('requests', 160);
    assert.deepEqual([...bounded.strange, ...few.strange], []);
    assert.deepEqual([bounded.served, few.served], [100, 60]);
    assert.ok(bounded.mostInFlight <= 5, `${bounded.mostInFlight} were under way`);
    assert.ok(few.mostInFlight <= 3, `${few.mostInFlight} were under way`);
    assert.deepEqual(few.left, { used: 0, reserved: 0 });
    assert.equal(leaving.dispatchedLeavers, 0);
    assert.equal(leaving.servedOfLine, 1);
    watch.typicallyWithin(WAKE_MEDIAN_MS_MAX, bounded.idleMedianMs, 'a free unit');
    watch.within(SURVIVOR_MS_MAX, leaving.survivorIdleMs, 'whoever stayed');
  });

  it('windows are full, and refusals say when to come back', async () => {
    retries = RETRY_SHAPES.map((shape) => checkRetryAfter(fleet, shape, 56_000));
    // It is awaited below; the minute until the windows have room is for the tests between.
    for (const retry of retries) retry.over.catch(() => undefined);
    await Promise.all(retries.map(({ refused }) => refused));
  });

  it('a changed limit holds on every process within two seconds, and refusals name it', async () => {
    using watch = fleet.watch();
    const { laneId } = await fleet.lane('changed', { lane: { default_max_wait_ms: 0 } });
    const policy = { scope_type: 'lane', scope_id: laneId, metric: 'tokens', period: 'day' } as const;
    const [policyId = ''] = await fleet.policies({ ...policy, limit_value: 1_000_000 });
    await fleet.change(policyId, { ...policy, limit_value: 10 });
    const loweredMs = await untilEverywhere(fleet, 'changed', (status) => status === 429);
    const [refused] = await answersOf([
      ask(fleet, { model: 'changed', tag: 'changed-refused', maxTokens: 50 }),
    ]);
    assert.ok(refused);
    assert.equal(errorOf(refused).policy?.id, policyId);
    assert.equal(errorOf(refused).code, 'request_exceeds_limit');
    await fleet.change(policyId, { ...policy, limit_value: 1_000_000 });
    const raisedMs = await untilEverywhere(fleet, 'changed', (status) => status === 200);
    await fleet.remove(policyId);
    figures['policy_change_ms'] = Math.max(loweredMs, raisedMs);
    watch.within(CHANGE_MS_MAX, Math.max(loweredMs, raisedMs), 'a change');
  });

  it('requests that wait go by the limit as it is now, and all within their budget', async () => {
    using watch = fleet.watch();
    const policy = { scope_type: 'lane', metric: 'requests', period: 'minute' } as const;
    const patient = { lane: { default_max_wait_ms: 30_000 } };
    const names = ['raised', 'removed', 'lowered'] as const;
    const changed = async (name: (typeof names)[number]) => {
      const { laneId } = await fleet.lane(name, patient);
      const scoped = { ...policy, scope_id: laneId };
      const [id = ''] = await fleet.policies({ ...scoped, limit_value: 60 });
      const change = {
        raised: () => fleet.change(id, { ...scoped, limit_value: 6_000 }),
        removed: () => fleet.remove(id),
        lowered: () => fleet.change(id, { ...scoped, limit_value: 30 }),
      };
      return changeUnderWaiters(fleet, name, 5, change[name]);
    };
    const results = await Promise.all(names.map(changed));
    figures['redecided'] = results.map(({ spreadMs, inOrder }) => [spreadMs, inOrder]);
    // Four requests wait: without a limit, or with a high one, they go immediately; otherwise at the pace of 30 a minute.
    const spreadMsMax = { raised: 1_000, removed: 1_000, lowered: 4 * 2_034 + 500 };
    for (const [index, { statuses, inOrder, spreadMs }] of results.entries()) {
      const name = names[index] ?? 'raised';
      assert.deepEqual(statuses, [200, 200, 200, 200, 200], name);
      // Those that go together, from several processes, may overtake each other on their way.
      if (name === 'lowered') assert.ok(inOrder, `${name}: out of order`);
      watch.within(spreadMsMax[name], spreadMs, `${name}: from the first to the last`);
    }
  });

  it('requests of one caller at several processes reach the provider in the order they came, each at its slot', async () => {
    using watch = fleet.watch();
    const { laneId } = await fleet.lane('ordered', { lane: { default_max_wait_ms: 30_000 } });
    const limit_value = 120;
    const policy = { scope_type: 'lane', scope_id: laneId, metric: 'requests', period: 'minute' } as const;
    const [policyId = ''] = await fleet.policies({ ...policy, limit_value });
    const { statuses, inOrder, atMs } = await changeUnderWaiters(fleet, 'ordered', 10, async () => undefined);
    await fleet.remove(policyId);
    // Slots follow the first at fixed intervals; anything beyond that is the request's own delay.
    const offGridMs = atMs.map((each, index) => each - (atMs[0] ?? 0) - index * (61_000 / limit_value));
    const earliestMs = Math.min(...offGridMs);
    const slotLatenessMs = offGridMs.map((each) => Math.round(each - earliestMs));
    figures['slot_lateness_ms'] = { median: quantile(slotLatenessMs, 0.5), max: quantile(slotLatenessMs, 1) };
    assert.ok(statuses.every((status) => status === 200));
    assert.ok(inOrder);
    watch.typicallyWithin(SLOT_LATENESS_MEDIAN_MS_MAX, quantile(slotLatenessMs, 0.5), 'after its slot');
  });

  it('rate headers are those of our tightest policy, and the provider’s own are not passed on', async () => {
    // A lane of its own: in the first minute of an epoch, a new limit also counts its lane's earlier requests.
    await fleet.lane('no-headers');
    assert.deepEqual(Object.values(await rateHeaders(fleet, 'no-headers', 'headers-0')).filter(Boolean), []);
    const { laneId } = await fleet.lane('headers');
    const scope = { scope_type: 'lane', scope_id: laneId, period: 'minute' } as const;
    const ids = await fleet.policies(
      { ...scope, metric: 'requests', limit_value: 50 },
      { ...scope, metric: 'requests', limit_value: 1_000 },
      { ...scope, metric: 'tokens', limit_value: 5_000 },
    );
    const first = await rateHeaders(fleet, 'headers', 'headers-1');
    await fleet.remove(...ids);
    assert.deepEqual([first.limitRequests, first.remainingRequests, first.limitTokens], ['50', '49', '5000']);
    assert.ok(Number(first.remainingTokens) < 5_000 && Number(first.remainingTokens) > 4_900);
    assert.match(first.resetRequests ?? '', /^6[01]\.\d{3}s$/);
  });

  it('a refusal said truly when to come back: not a second earlier', async () => {
    const results = await Promise.all(retries.map(({ over }) => over));
    for (const { name, namesPolicy, acceptedEarly, acceptedInTime, retryAfterMs } of results) {
      const untrue = Number(acceptedEarly) + acceptedInTime.filter((accepted) => !accepted).length;
      add('untrue_retry_after', untrue);
      assert.ok(namesPolicy, `${name} names another policy`);
      assert.equal(untrue, 0, `${name}: ${retryAfterMs} ms, early ${acceptedEarly}, then ${acceptedInTime}`);
    }
  });

  severalProcesses.it(
    'a gateway killed under load leaves nothing behind, and the windows equal the ledger',
    async () => {
      const result = await lost.over;
      const { requestIds: _ids, ...ledger } = result.ledger;
      figures['lost_gateway'] = { ...result, ledger, left: result.left.length };
      assert.deepEqual(result.left, []);
      assert.ok(result.waiting >= LOST, `${result.waiting} were waiting`);
      assert.equal(result.wrongRows, 0);
      assert.equal(result.ledger.requests, result.dispatched);
      assert.equal(result.ledger.lost, LOST);
      assert.deepEqual(result.windows, { requests: result.ledger.requests, tokens: result.ledger.tokens });
      assert.ok(result.ledger.tokens >= result.providerTokens);
      lost.watch.within(LEASE_OVER_MS_MAX, result.leftAfterMs, 'what it left behind');
    },
  );

  storeServers.it('after all of this nobody waits, stands in line or is under way', async () => {
    assert.deepEqual(await liveKeys(fleet.redisPorts), []);
  });
});

storeServers.describe('limits while Redis is away', () => {
  let fleet: Fleet;
  let limited: string;
  let free: string;
  let dayPolicy: string;
  const expected = { limited: 0, free: 0 };

  before(async () => {
    fleet = await startFleet({ processes: 2 });
    ({ laneId: limited } = await fleet.lane('limited'));
    ({ laneId: free } = await fleet.lane('free'));
    [dayPolicy = ''] = await fleet.policies({
      scope_type: 'lane',
      scope_id: limited,
      metric: 'requests',
      period: 'day',
      limit_value: 1_000,
    });
    assert.equal((await serveDuringOutage(fleet, 'limited', 'before')).served, 24);
    expected.limited += 24;
    assert.equal(await rowsOf(fleet, limited, expected.limited), expected.limited);
  });
  after(() => fleet.stop());

  it('frozen: 503 within its time where a policy is in force, served where none is, metered later', async () => {
    using watch = fleet.watch();
    const { redis } = fleet.deployment;
    redis.pause();
    const refused = await askDuringOutage(fleet, 'limited', 'frozen');
    const served = await serveDuringOutage(fleet, 'free', 'frozen-free');
    redis.resume();
    const backMs = await untilServed(fleet, 'limited', 'frozen');
    figures['frozen'] = { refused_ms_max: refused.refusedMsMax, back_ms: backMs };
    expected.free += 24;
    assert.deepEqual(refused.notRefused, []);
    assert.equal(served.served, 24);
    assert.equal(await rowsOf(fleet, free, expected.free), expected.free);
    watch.within(OUTAGE_MS_MAX, refused.refusedMsMax, 'a 503');
  });

  it('killed and empty again: windows begin with what the ledger holds, live streams are counted again', async () => {
    using watch = fleet.watch();
    const { redis } = fleet.deployment;
    const [bound = ''] = await fleet.policies({ metric: 'concurrency', period: 'none', limit_value: 100 });
    const streams = [0, 1, 0, 1].map((process, index) =>
      ask(fleet, {
        model: 'limited',
        tag: `live-${index}`,
        stream: true,
        process,
        maxTokens: 200,
        sim: { frames: 100, frameDelayMs: 100 },
      }),
    );
    await untilUsed(fleet, bound, 4, 3_000);
    await redis.kill();
    const refused = await askDuringOutage(fleet, 'limited', 'killed');
    await redis.start();
    const backMs = await untilServed(fleet, 'limited', 'killed');
    const countedMs = await untilUsed(fleet, bound, 4, 10_000);
    const answers = await answersOf(streams);
    await fleet.remove(bound);
    figures['emptied'] = { refused_ms_max: refused.refusedMsMax, back_ms: backMs, recounted_ms: countedMs };
    assert.deepEqual(refused.notRefused, []);
    const { url } = fleet.deployment.postgres;
    const isOfLedger = async () =>
      (await ledgerSums(url, limited)).requests === (await fleet.usage(dayPolicy)).used;
    assert.ok(await until(isOfLedger, 10_000, 200), 'the window is what the ledger holds');
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    watch.within(OUTAGE_MS_MAX, refused.refusedMsMax, 'a 503');
    watch.within(COUNTED_MS_MAX, countedMs, 'the new count of the streams');
  });
});

storeServers.describe('limits on a cluster of three masters', () => {
  let fleet: Fleet;

  before(async () => {
    fleet = await startFleet({ processes: PROCESSES, cluster: true });
  });
  after(() => fleet.stop());

  coreChecks(() => fleet, 'cluster');
});

/** Waits until the policy has this count; returns how long that took. */
async function untilUsed(fleet: Fleet, policyId: string, used: number, msMax: number): Promise<number> {
  const startMs = performance.now();
  for (;;) {
    const now = await fleet.usage(policyId).catch(() => null);
    if (now?.used === used) return Math.round(performance.now() - startMs);
    assert.ok(performance.now() - startMs < msMax, `${now?.used} are counted, not ${used}`);
    await afterMs(50);
  }
}
