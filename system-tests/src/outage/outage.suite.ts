import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { IS_LONG } from '@relay/testbed/long-form';
import { reportFigures } from '../harness/figures.ts';
import { afterMs, until } from '../harness/until.ts';
import { describeDoctor } from './doctor-cases.ts';
import { fillSpool, hold } from './fill-spool.ts';
import { settledRequests, waitingEntries } from './ledger-tags.ts';
import { describeLogOfIncidents } from './log-cases.ts';
import { type Site, startSite } from './site.ts';
import { describeStoreStates } from './state-cases.ts';
import { failures, introduce, startSteadyLoad } from './steady-load.ts';

// What clients get while a store is unavailable, and what the ledger holds afterwards.

/** Two minutes with RELAY_SYSTEM_LONG=1; ten seconds in CI. */
const AWAY_MS = IS_LONG ? 120_000 : 10_000;
const STEADY_MS = 2_000;
const ANSWER_MS_MAX = 5_000;
/** The smallest spool, and more requests in flight than it has room for. */
const SPOOL_BYTES = 1_048_576;
const HELD_REQUESTS_MAX = 600;
const HELD_MS = 10_000;
const NOTHING_WRONG = { lost: [], duplicated: [], sumDifference: 0, left: [] };

let site: Site;
const figures: Record<string, unknown> = { away_ms: AWAY_MS };

before(async () => {
  site = await startSite();
});
after(async () => {
  reportFigures(figures);
  await site.stop();
});

describeStoreStates(() => site, figures);
describeLogOfIncidents(() => site, figures);
describeDoctor();

const urls = () => site.deployment.processes.map(({ url }) => url);

describe('PostgreSQL stopped under load', () => {
  it('stops no request, with or without a limit, and the ledger misses none of them afterwards', async () => {
    const { postgres } = site.deployment;
    const targets = [site.limited, ...site.unlimited];
    await introduce('postgres', urls(), targets);
    const load = startSteadyLoad('postgres', urls(), targets);
    await afterMs(STEADY_MS);
    await postgres.stop();
    await afterMs(AWAY_MS);
    const backlog = await waitingEntries(site);
    await postgres.start();
    const backMs = performance.now();
    await afterMs(STEADY_MS);
    const served = await load.stop();
    const { lost, duplicated, sumDifference, left } = await settledRequests(site, 'postgres-');
    figures['postgres'] = {
      requests: served.length,
      failed: failures(served),
      slowest_ms: Math.round(Math.max(...served.map(({ tookMs }) => tookMs))),
      backlog,
      drained_ms: Math.round(performance.now() - backMs),
      lost: lost.length,
      duplicated: duplicated.length,
      sum_difference: sumDifference,
    };
    assert.deepEqual(failures(served), {});
    assert.ok(served.length > AWAY_MS / 1_000, 'hardly anything was asked');
    assert.ok(backlog > 0, 'the ledger was not away');
    assert.deepEqual({ lost, duplicated, sumDifference, left }, NOTHING_WRONG);
    assert.ok(
      Math.max(...served.map(({ tookMs }) => tookMs)) < ANSWER_MS_MAX,
      'somebody waited for PostgreSQL',
    );
  });
});

describe('Redis stopped under load', () => {
  it('stops no request to which no limit applies, and the ledger misses none of them afterwards', async () => {
    await introduce('redis', urls(), site.unlimited);
    const load = startSteadyLoad('redis', urls(), site.unlimited);
    await afterMs(STEADY_MS);
    await site.redis.stop();
    await afterMs(AWAY_MS);
    await site.redis.start();
    const backMs = performance.now();
    await afterMs(STEADY_MS);
    const served = await load.stop();
    const { lost, duplicated, sumDifference, left } = await settledRequests(site, 'redis-');
    figures['redis'] = {
      requests: served.length,
      failed: failures(served),
      slowest_ms: Math.round(Math.max(...served.map(({ tookMs }) => tookMs))),
      drained_ms: Math.round(performance.now() - backMs),
      lost: lost.length,
      duplicated: duplicated.length,
      sum_difference: sumDifference,
    };
    assert.deepEqual(failures(served), {});
    assert.ok(served.length > AWAY_MS / 1_000, 'hardly anything was asked');
    assert.deepEqual({ lost, duplicated, sumDifference, left }, NOTHING_WRONG);
  });

  it('refuses with 503 what it could not account for when the spool is full, and serves again afterwards', async () => {
    const full = await site.deployment.startProcess({
      env: {
        RELAY_SPOOL_DIR: join(site.directory, 'small-spool'),
        RELAY_SPOOL_BYTES_MAX: String(SPOOL_BYTES),
      },
    });
    const [target] = site.unlimited;
    assert.ok(target);
    await site.redis.stop();
    const { held, refused } = await fillSpool(full.url, target, {
      name: 'spool',
      requestsMax: HELD_REQUESTS_MAX,
      delayMs: HELD_MS,
    });
    await site.redis.start();
    const again = await until(
      async () => (await hold(full.url, target, `spool-again-${Date.now()}`, 0)).status === 200,
      ANSWER_MS_MAX,
      100,
    );
    const { lost, duplicated, sumDifference, left } = await settledRequests(site, 'spool-');
    figures['spool_full'] = { served: held.length, refused: refused.length, lost: lost.length };
    assert.ok(held.length > 10, `only ${held.length} were taken`);
    assert.ok(refused.length > 0, 'the spool was never full');
    for (const { status, code, retryAfter } of refused)
      assert.deepEqual([status, code, retryAfter], [503, 'metering_unavailable', '1']);
    assert.equal(again, true, 'nothing is served although Redis is back');
    assert.deepEqual({ lost, duplicated, sumDifference, left }, NOTHING_WRONG);
  });
});
