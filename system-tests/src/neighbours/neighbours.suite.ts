import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type SchedulerWatch, watchScheduler } from '@relay/testbed';
import { IS_LONG } from '@relay/testbed/long-form';
import { reportFigures } from '../harness/figures.ts';
import { until } from '../harness/until.ts';
import { ATTACKS, type Attack } from './attacks.ts';
import { learnAcross } from './crossings.ts';
import { type Measured, measure } from './measure.ts';
import { type Site, startSite } from './site.ts';

// Two organizations at one gateway of a hosted deployment: one attacks, and the latency of the other is the verdict. Longer:
// RELAY_SYSTEM_LONG=1 npm run system -- neighbours

const QUIET_MS = IS_LONG ? 4_000 : 800;
const UNDER_MS = IS_LONG ? 10_000 : 1_200;
const RATIO_MAX = 3;
const ADDED_MS_MAX = 100;
/** The short form runs wherever CI runs, and finds what stops a gateway for seconds. */
const SHORT_ADDED_MS_MAX = 400;
/** An attack is over when a request takes no longer than before it. */
const OVER_MS_MAX = 10_000;
const BURST_MS_MAX = 8_000;

const figures = { attacks: 0, worst_p99_ratio: 0, worst_added_ms: 0, crossings: 0 };

after(() => reportFigures(figures));

interface Effect {
  readonly ratio: number;
  readonly addedMs: number;
  readonly quiet: Measured;
  readonly under: Measured;
  readonly statuses: Readonly<Record<string, number>>;
}

describe('one gateway, two organizations', () => {
  let site: Site;

  before(async () => {
    site = await startSite();
  });
  after(() => site.stop());

  for (const attack of ATTACKS) {
    it(`another organization is not slowed down by ${attack.name}`, async (context) => {
      using watch = watchScheduler(site.deployment.processes);
      const effect = await effectOf(site, attack);
      context.diagnostic(JSON.stringify(effect));
      figures.attacks += 1;
      figures.worst_p99_ratio = Math.max(figures.worst_p99_ratio, rounded(effect.ratio));
      figures.worst_added_ms = Math.max(figures.worst_added_ms, rounded(effect.addedMs));
      assert.equal(effect.under.failed, 0);
      assertHarmless(watch, effect);
    });
  }

  it('nothing that one organization’s answers teach changes the estimates of another', async () => {
    const { before: known, after: then } = await learnAcross(site);
    figures.crossings += known === then ? 0 : 1;
    assert.equal(then, known);
  });
});

function assertHarmless(watch: SchedulerWatch, { addedMs, quiet, under }: Effect): void {
  watch.within(IS_LONG ? ADDED_MS_MAX : SHORT_ADDED_MS_MAX, addedMs, 'what was added');
  if (IS_LONG) watch.within(RATIO_MAX * quiet.p99Ms, under.p99Ms, 'under attack');
}

const rounded = (value: number) => Math.round(value * 100) / 100;

async function effectOf({ deployment, good, attack: begin }: Site, attack: Attack): Promise<Effect> {
  const latency = (forMs: number) => measure(deployment.url, good.key, forMs);
  const quiet = await latency(QUIET_MS);
  const end = await begin(attack);
  // Requests that are only held were a burst when they came; what counts is that they are held.
  if (attack.heldMs !== undefined)
    await until(async () => (await latency(1)).p99Ms <= quiet.p99Ms, BURST_MS_MAX);
  const under = await latency(UNDER_MS);
  const statuses = await end();
  await until(async () => (await latency(1)).p99Ms <= quiet.p99Ms * 1.5, OVER_MS_MAX);
  return { ratio: under.p99Ms / quiet.p99Ms, addedMs: under.p99Ms - quiet.p99Ms, quiet, under, statuses };
}
