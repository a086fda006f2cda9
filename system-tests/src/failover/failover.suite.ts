import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { redisCall } from '@relay/testbed';
import { IS_LONG } from '@relay/testbed/long-form';
import { tagOf } from '../chaos/provider-log.ts';
import { createRandom } from '../chaos/random.ts';
import { ask } from '../chaos/request.ts';
import { BILLED_FAILURE } from '../chaos/world.ts';
import { reportFigures } from '../harness/figures.ts';
import { afterMs } from '../harness/until.ts';
import { compare, exceededMinute, exceededUnits } from './judge.ts';
import { LANES, type LaneName, LIMITS, type Site, startSite } from './site.ts';

const REQUESTS_PER_S = IS_LONG ? 300 : 40;
const BEHIND_MS = IS_LONG ? 5_000 : 1_500;
/** Between two losses: longer than a shard stays closed. */
const STEADY_MS = IS_LONG ? 20_000 : 4_500;
/** Two stores, a replica and two processes, on a busy machine. */
const START_MS_MAX = 180_000;
/** The shares of requests that the provider rejects, and fails. */
const REJECTED = 0.3;
const FAILED = 0.02;
const SEED = Date.now() % 1_000_000;

const figures: Record<string, unknown> = { seed: SEED, requests_per_s: REQUESTS_PER_S, behind_ms: BEHIND_MS };
let site: Site;

before(
  async () => {
    site = await startSite();
  },
  { timeout: START_MS_MAX },
);
after(async () => {
  reportFigures(figures);
  await site.stop();
});

/** Requests at a steady rate, whatever becomes of them. */
function startLoad(): { stop(): Promise<Map<string, number>> } {
  const random = createRandom(SEED);
  const urls = site.deployment.processes.map(({ url }) => url);
  const pending = new Set<Promise<void>>();
  const statuses = new Map<string, number>();
  let count = 0;

  function send(): void {
    count += 1;
    const lane: LaneName = random.pick(LANES);
    const asking = {
      tag: `${lane}-${count}`,
      target: { token: site.deployment.apiToken, model: lane },
      kind: 'chat',
      sim: {
        outputTokens: 5,
        delayMs: lane === 'units' ? 800 : random.between(0, 300),
        // Limits count requests that the provider rejects or fails.
        ...(random.chance(REJECTED) && { status: 400 }),
        ...(random.chance(FAILED) && { status: 500, body: BILLED_FAILURE }),
      },
      words: 'Count.',
      hangUpAfterMs: null,
    } as const;
    const sent = ask(random.pick(urls), asking).then(({ status }) => {
      const key = `${lane} ${status}`;
      statuses.set(key, (statuses.get(key) ?? 0) + 1);
      pending.delete(sent);
    });
    pending.add(sent);
  }

  const startedMs = performance.now();
  const timer = setInterval(() => {
    const due = ((performance.now() - startedMs) / 1_000) * REQUESTS_PER_S;
    while (count < due) send();
  }, 20);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(pending);
      return statuses;
    },
  };
}

describe('Redis that loses state under load', () => {
  it('loses no row, doubles none, and exceeds no limit', async (test) => {
    const load = startLoad();
    await afterMs(STEADY_MS);
    await site.failOver(BEHIND_MS);
    await afterMs(STEADY_MS);
    await redisCall(site.primary().port, 'FLUSHALL');
    await afterMs(STEADY_MS);
    await site.restartEmpty();
    await afterMs(STEADY_MS);
    const statuses = await load.stop();
    const { lost, duplicated, difference } = await compare({
      databaseUrl: site.deployment.postgres.url,
      provider: site.provider,
      admin: site.deployment.admin,
      dayPolicyId: site.policies.day,
    });
    const entries = await site.provider.entries();
    const of = (lane: LaneName) => entries.filter((entry) => tagOf(entry).startsWith(`${lane}-`));
    const exceeded = exceededMinute(of('minute'), LIMITS.minute) + exceededUnits(of('units'), LIMITS.units);
    test.diagnostic(`seed ${SEED}: ${JSON.stringify(Object.fromEntries([...statuses].sort()))}`);
    Object.assign(figures, {
      requests: [...statuses.values()].reduce((sum, each) => sum + each, 0),
      answers: Object.fromEntries([...statuses].sort()),
      provider: entries.length,
      lost: lost.length,
      duplicated: duplicated.length,
      exceeded,
      window_less_ledger: difference,
    });
    assert.deepEqual({ lost, duplicated, exceeded, difference }, NOTHING_WRONG);
    assert.ok(of('minute').length >= LIMITS.minute / 2, `${of('minute').length} used of the minute`);
    assert.ok((statuses.get('units 429') ?? 0) > 0, 'the units were never all in use');
    assert.ok((statuses.get('day 503') ?? 0) > 0, 'no request came while limits were rebuilt');
  });
});

const NOTHING_WRONG = { lost: [], duplicated: [], exceeded: 0, difference: 0 };
