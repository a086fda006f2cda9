import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { watchScheduler } from '@relay/testbed';
import { IS_LONG } from '@relay/testbed/long-form';
import { type Fleet, startFleet } from '../chaos/fleet.ts';
import { createRandom } from '../chaos/random.ts';
import { reportFigures } from '../harness/figures.ts';
import { afterMs, until } from '../harness/until.ts';
import { type Cap, makeCaps } from './caps.ts';
import { startClients } from './clients.ts';
import { judgeCap } from './judge.ts';

// Hard caps that no request passes, by what the provider counts: it writes to the last token that it may, prompts are made of what tokenizers
// cut smallest, and gateways, workers and Redis are killed meanwhile.

const GATEWAYS = 4;
const CLIENTS = IS_LONG ? 2_000 : 120;
const CAP_TOKENS = IS_LONG ? 20_000_000 : 800_000;
const KILLS = IS_LONG ? 8 : 1;
const BETWEEN_MS = IS_LONG ? 4_000 : 2_000;
/** After the last kill, until nothing more fits into the caps. */
const LAST_MS_MAX = IS_LONG ? 240_000 : 150_000;
const AWAY_MS = 800;
const SEED = Number(process.env['RELAY_SEED'] ?? Date.now() % 2 ** 31);
const USED_SHARE_MIN = 0.85;

let fleet: Fleet;
let caps: readonly Cap[];
const figures: Record<string, unknown> = { seed: SEED };

before(async () => {
  fleet = await startFleet({ gateways: GATEWAYS, withoutProxies: true });
  caps = await makeCaps(fleet, CAP_TOKENS);
});
after(async () => {
  reportFigures(figures);
  await fleet.stop();
});

describe('hard caps', () => {
  it('are passed by nothing, and used almost whole', async () => {
    const random = createRandom(SEED);
    const gateways = fleet.gateways.flatMap(({ process }) => process ?? []);
    using watch = watchScheduler([...gateways, fleet.provider.process]);
    const load = startClients(fleet, caps, CLIENTS, random);
    for (let round = 0; round < KILLS; round += 1) {
      await afterMs(BETWEEN_MS);
      const [gateway, worker] = [
        fleet.gateways[round % GATEWAYS],
        fleet.workers[round % fleet.workers.length],
      ];
      if (gateway?.process != null) await fleet.kill(gateway, AWAY_MS);
      await afterMs(BETWEEN_MS / 2);
      if (worker?.process != null) await fleet.kill(worker, AWAY_MS);
      await afterMs(BETWEEN_MS / 2);
      await fleet.killRedis(AWAY_MS);
    }
    await fleet.whole();
    const usedUp = await until(() => load.areUsedUp(), LAST_MS_MAX);
    await load.stop();
    const entries = await fleet.provider.entries();
    const judged = caps.map((cap) => judgeCap(cap, entries));
    const overIn = (metric: Cap['metric']) =>
      judged.reduce((sum, { over }, index) => sum + (caps[index]?.metric === metric ? over : 0), 0);
    const shares = judged.map(({ usedShare }) => usedShare);
    Object.assign(figures, {
      requests: entries.length,
      caps: caps.length,
      over_micros: overIn('spend'),
      over_tokens: overIn('tokens'),
      used_share: Math.round((1_000 * shares.reduce((sum, each) => sum + each, 0)) / shares.length) / 1_000,
      used_share_min: Math.round(1_000 * Math.min(...shares)) / 1_000,
      clients: CLIENTS,
      used_up: usedUp,
      answers: Object.fromEntries(load.answers),
    });
    const over = judged.filter((each) => each.over > 0);
    assert.deepEqual(over, [], `seed ${SEED}`);
    const shown = judged.map(
      ({ cap, requests, usedShare }) => `${cap} ${usedShare.toFixed(3)} by ${requests}`,
    );
    const isUsed = Number(figures['used_share']) >= USED_SHARE_MIN;
    // Before nothing more fits, less is used because there was no time.
    assert.ok(isUsed || !usedUp, `${shown.join(', ')}, seed ${SEED}`);
    watch.inTime(isUsed, `not used up in time: ${shown.join(', ')}, seed ${SEED}`);
  });
});
