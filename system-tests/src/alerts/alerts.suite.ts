import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { IS_LONG } from '@relay/testbed/long-form';
import { createRandom } from '../chaos/random.ts';
import { type AdminClient, adminClient, createLane } from '../harness/admin-client.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import type { RelayProcess } from '../harness/relay-process.ts';
import { severalProcesses } from '../harness/stores.ts';
import { afterMs, until } from '../harness/until.ts';
import { type Receiver, startReceiver } from './nasty-receiver.ts';

// Thresholds of limits are crossed while workers are killed, and the receiver of the webhooks fails half of its answers.

/** Each request reaches one of them in each limit of its lane. */
const ALERT_AT = [20, 40, 60, 80, 100];
const REQUESTS = ALERT_AT.length;
const LANES = IS_LONG ? 100 : 10;
const LIMITS_PER_LANE = IS_LONG ? 20 : 6;
const THRESHOLDS = LANES * LIMITS_PER_LANE * ALERT_AT.length;
const KILLS_MIN = IS_LONG ? 15 : 3;
const WORKERS = 2;
const DELIVERED_MS_MAX = IS_LONG ? 1_200_000 : 120_000;
const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;

const seed = Number(process.env['RELAY_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const random = createRandom(seed);
const killed = { kills: 0 };

let deployment: Deployment;
let platform: AdminClient;
let inferenceUrl: string;
let receiver: Receiver;
const workers: RelayProcess[] = [];

before(async () => {
  receiver = await startReceiver(random, SECRET);
  deployment = await startDeployment({ processes: 0 });
  const managing = await deployment.startProcess({ role: 'platform' });
  const others = ['inference', ...Array.from({ length: WORKERS }, () => 'worker')];
  const [serving, ...started] = await Promise.all(others.map((role) => deployment.startProcess({ role })));
  platform = adminClient(managing.url, deployment.adminToken);
  inferenceUrl = serving?.url ?? '';
  workers.push(...started);
});
after(async () => {
  await deployment.stop();
  await receiver.close();
});

severalProcesses.describe('thresholds that are crossed while workers are killed', () => {
  it('arrive all, each under one id, at a receiver that fails half of its answers', async () => {
    await platform.create('/api/relay/alert-destinations', {
      name: 'Nasty',
      kind: 'webhook',
      url: receiver.url,
      secret: SECRET,
    });
    const lanes = await makeLanes();
    const ending = new AbortController();
    const killing = killWorkers(ending.signal);
    await inTurns(lanes, 4, askAll);
    const isDelivered = await until(() => acceptedAll(), DELIVERED_MS_MAX, 250);
    ending.abort();
    await killing;
    const figures = judge();
    reportFigures(figures);
    assert.equal(figures.missing, 0, `seed ${seed}`);
    assert.equal(figures.second_ids, 0, `seed ${seed}`);
    assert.equal(figures.unexpected, 0, `seed ${seed}`);
    assert.equal(figures.bad_signatures, 0);
    assert.ok(isDelivered);
    assert.ok(figures.kills >= KILLS_MIN);
    await demandListed();
  });
});

async function makeLanes(): Promise<string[]> {
  const { url } = deployment.provider;
  const made = Array.from({ length: LANES }, (_, index) => `lane-${index}`);
  await inTurns(made, 4, async (name) => {
    const { laneId } = await createLane(platform, {
      name,
      endpoints: [{ baseUrl: `${url}/v1`, upstreamModel: 'sim-multi' }],
    });
    for (let index = 0; index < LIMITS_PER_LANE; index += 1) {
      await platform.create('/api/relay/limit-policies', {
        scope_type: 'lane',
        scope_id: laneId,
        metric: 'requests',
        period: 'month',
        limit_value: REQUESTS,
        alert_at: ALERT_AT,
      });
    }
  });
  return made;
}

async function askAll(model: string): Promise<void> {
  for (let index = 0; index < REQUESTS; index += 1) {
    const response = await fetch(`${inferenceUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${deployment.apiToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Say hello.' }] }),
    });
    const text = await response.text();
    assert.equal(response.status, 200, text);
  }
}

/** Kills one worker after the other and starts another in its place, until all is delivered and enough were killed. */
async function killWorkers(ended: AbortSignal): Promise<void> {
  while (!ended.aborted || killed.kills < KILLS_MIN) {
    await afterMs(random.between(100, IS_LONG ? 4_000 : 1_500));
    const place = random.between(0, WORKERS - 1);
    await workers[place]?.kill();
    killed.kills += 1;
    workers[place] = await deployment.startProcess({ role: 'worker' });
  }
}

function acceptedAll(): boolean {
  const accepted = [...receiver.seen().values()].filter((each) => each.accepted > 0);
  return accepted.length >= THRESHOLDS && killed.kills >= KILLS_MIN;
}

function judge() {
  const seen = [...receiver.seen().values()];
  const { deliveries, refused, badSignatures } = receiver.counts;
  return {
    thresholds: THRESHOLDS,
    missing: THRESHOLDS - seen.filter(({ accepted }) => accepted > 0).length,
    second_ids: seen.filter(({ ids }) => ids.size > 1).length,
    unexpected: Math.max(0, seen.length - THRESHOLDS),
    kills: killed.kills,
    deliveries,
    refused,
    bad_signatures: badSignatures,
    seed,
  };
}

/** The API lists each alert once, and in the end every one as delivered. */
async function demandListed(): Promise<void> {
  const read = async () => {
    const ids = new Set<string>();
    let delivered = 0;
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await platform.call(
        'GET',
        `/api/relay/alerts?limit=1000${cursor && `&cursor=${cursor}`}`,
      );
      const page = body as {
        data: { id: string; deliveries: { state: string }[] }[];
        next_cursor: string | null;
      };
      for (const { id, deliveries } of page.data) {
        ids.add(id);
        delivered += deliveries.filter(({ state }) => state === 'delivered').length;
      }
      cursor = page.next_cursor;
    }
    return { ids: ids.size, delivered };
  };
  // A worker that was killed between the answer and its record delivers once more, when its claim has expired.
  const isListed = await until(async () => (await read()).delivered === THRESHOLDS, 60_000, 1_000);
  assert.ok(isListed, JSON.stringify(await read()));
  assert.equal((await read()).ids, THRESHOLDS);
}

async function inTurns<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const rest = [...items];
  const worker = async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
