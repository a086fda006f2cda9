import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@relay/testbed';
import { createRandom, type Random } from '@relay/testbed/random';
import { type AdminClient, createLane } from '../harness/admin-client.ts';
import { bareEnvironment } from '../harness/bare-environment.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { RELAY_ENTRY } from '../harness/relay-entry.ts';
import { until } from '../harness/until.ts';
import { type Booked, openaiCosts, openaiUsage } from '../reconcile/provider-reports.ts';
import { errorBody } from './answers.ts';
import { type Play, type Report, toldIn } from './bill.ts';
import { errorFrame } from './frames.ts';
import { type Mode, modes, pathOf, requestText } from './modes.ts';
import { completePlay, framesBefore, headOf, piecesOf, play, type Scene } from './plays.ts';
import { type Bill, type BilledProvider, startBilledProvider } from './provider.ts';

const AT_ONCE = 12;
const FAILED = 0.3;
const ROWS_MS_MAX = 60_000;
/** Dollars for a million tokens. */
const PRICES = new Map([
  ['first-model', { input: 2, cached: 1, write: 0, output: 8 }],
  ['second-model', { input: 3, cached: 2, write: 0, output: 11 }],
]);

export interface Reconciled {
  readonly requests: number;
  readonly failed: number;
  /** On either side. */
  readonly missing: number;
  /** Days and models that differ. */
  readonly differences: number;
  readonly micros: number;
  readonly said: string;
}

interface Found {
  readonly differences: number;
  readonly missing_in_relay_requests: number;
  readonly missing_at_provider_requests: number;
  readonly days: readonly {
    readonly cost_usd: { readonly relay: string; readonly provider: string } | null;
  }[];
}

/** So many requests, of which three in ten fail at their first endpoint in some way, and then the provider's export. */
export async function reconcileAll(count: number, seed: number): Promise<Reconciled> {
  const random = createRandom(seed);
  const [deployment, provider] = await Promise.all([
    startDeployment({ stores: 'servers' }),
    startBilledProvider(),
  ]);
  const home = mkdtempSync(join(tmpdir(), 'relay-books-'));
  try {
    const lanes = await addLanes(deployment, provider);
    const work = { deployment, provider, lanes, random, booked: [] as Booked[], failed: 0, left: count };
    const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
    await Promise.all(lanes.map((lane) => drive(work, lane, agent)));
    agent.destroy();
    await untilRows(deployment.admin, count);
    const said = await reconcile(deployment, home, work.booked);
    const found = JSON.parse(said) as Found;
    return {
      requests: count,
      failed: work.failed,
      missing: found.missing_in_relay_requests + found.missing_at_provider_requests,
      differences: found.differences,
      micros: found.days.reduce((sum, { cost_usd }) => sum + apart(cost_usd), 0),
      said,
    };
  } finally {
    rmSync(home, { recursive: true, force: true });
    await deployment.stop();
    await provider.close();
  }
}

/** Micro-dollars. The provider's amounts are sums of floating-point numbers. */
function apart(cost: Found['days'][number]['cost_usd']): number {
  return cost === null ? 0 : Math.round(Math.abs(Number(cost.relay) - Number(cost.provider)) * 1_000_000);
}

interface Lane {
  readonly name: string;
  readonly endpoints: readonly [first: string, second: string];
}

/** Each has its endpoints, because the provider plays to one request of a lane at a time. Every fourth has a dead one in front. */
async function addLanes({ admin, everywhere }: Deployment, provider: BilledProvider): Promise<Lane[]> {
  const closed = `http://127.0.0.1:${await freePort()}/v1`;
  const lanes: Lane[] = [];
  for (let index = 0; index < AT_ONCE; index += 1) {
    const name = `r${index}`;
    const endpoints = [`${name}-1`, `${name}-2`] as const;
    const preset = { preset_slug: 'openai' };
    const { endpointIds } = await createLane(admin, {
      name,
      endpoints: [
        ...(index % 4 === 0 ? [{ baseUrl: closed, upstreamModel: 'first-model', provider: preset }] : []),
        { baseUrl: provider.urlOf(endpoints[0]), upstreamModel: 'first-model', provider: preset },
        { baseUrl: provider.urlOf(endpoints[1]), upstreamModel: 'second-model', provider: preset },
      ],
    });
    for (const [at, endpoint_id] of endpointIds.entries()) {
      const price = PRICES.get(at === endpointIds.length - 1 ? 'second-model' : 'first-model');
      await setPrice(admin, endpoint_id, price ?? { input: 0, cached: 0, output: 0 });
    }
    lanes.push({ name, endpoints });
  }
  await everywhere();
  return lanes;
}

/** The preset may have brought one. */
async function setPrice(
  admin: AdminClient,
  endpoint_id: string,
  { input, cached, output }: { input: number; cached: number; output: number },
): Promise<void> {
  await admin.create('/api/relay/pricing-policies', {
    endpoint_id,
    input_cost_micros_per_1m_tokens: input * 1_000_000,
    cached_input_cost_micros_per_1m_tokens: cached * 1_000_000,
    output_cost_micros_per_1m_tokens: output * 1_000_000,
  });
}

interface Work {
  readonly deployment: Deployment;
  readonly provider: BilledProvider;
  readonly random: Random;
  readonly booked: Booked[];
  failed: number;
  left: number;
}

async function drive(work: Work, { name, endpoints }: Lane, agent: Agent): Promise<void> {
  const usable = modes.filter(({ client, wire, gzip }) => client === wire && wire !== 'messages' && !gzip);
  while (work.left > 0) {
    work.left -= 1;
    const mode = work.random.pick(usable);
    const fails = work.random.next() < FAILED;
    if (fails) work.failed += 1;
    const first = sceneOf(mode, work.random);
    const second = sceneOf(mode, work.random);
    const plays = fails
      ? [await work.random.pick(failures)(first), await completePlay(second)]
      : [await completePlay(first), await completePlay(second)];
    const bill = work.provider.expect(endpoints, plays);
    await ask(work.deployment, mode, name, agent, work.left);
    bill.end();
    book(work.booked, bill);
  }
}

function sceneOf(mode: Mode, random: Random): Scene {
  const input = random.integer(1, 2_000);
  return {
    mode,
    telling: { reports: [{ input, cached: random.integer(0, input), output: random.integer(1, 900) }] },
  };
}

const status = (code: number, reports: boolean) => (scene: Scene) => {
  const one: Scene = { ...scene, mode: { ...scene.mode, streaming: false } };
  const report = reports ? scene.telling.reports[0] : undefined;
  return play(one, { head: headOf(one, code), pieces: errorBody(scene.mode.wire, report) });
};

/** Each reports all that it used, or used nothing. */
const failures: readonly ((scene: Scene) => Promise<Play>)[] = [
  status(400, true),
  status(400, false),
  status(422, true),
  status(409, true),
  status(500, true),
  status(500, false),
  status(503, true),
  (scene) => play(scene, { pieces: piecesOf(scene), framing: 'chunked', end: 'cut' }),
  (scene) =>
    scene.mode.streaming
      ? play(scene, {
          pieces: [
            ...framesBefore({ ...scene, telling: { reports: [] } }, 'content'),
            errorFrame(scene.mode.wire, scene.telling.reports[0]),
          ],
        })
      : play(scene, { pieces: [...piecesOf(scene), { bytes: Buffer.from('and more') }] }),
];

/** What the provider invoices: every request that it told the usage of. */
function book(booked: Booked[], bill: Bill): void {
  for (const { endpoint, atMs, reports } of bill.requests) {
    const told: Report | null = toldIn(reports);
    if (told?.input === undefined || told.output === undefined) continue;
    const model = endpoint.endsWith('-2') ? 'second-model' : 'first-model';
    booked.push({ model, input: told.input, cached: told.cached ?? 0, write: 0, output: told.output, atMs });
  }
}

function ask(
  { url, apiToken }: Deployment,
  mode: Mode,
  lane: string,
  agent: Agent,
  index: number,
): Promise<void> {
  const body = requestText(mode, lane, index);
  return new Promise((resolve) => {
    const outgoing = request(url + pathOf(mode), {
      method: 'POST',
      agent,
      headers: {
        authorization: `Bearer ${apiToken}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      },
    });
    outgoing.on('error', () => resolve());
    outgoing.once('response', (answer) => {
      answer.on('error', () => undefined);
      answer.resume();
      answer.once('close', () => resolve());
    });
    outgoing.end(body);
  });
}

async function untilRows({ call }: AdminClient, count: number): Promise<void> {
  const written = async () => {
    const { body } = await call('GET', '/api/relay/stats/summary');
    return (body as { requests: number }).requests >= count;
  };
  assert.ok(await until(written, ROWS_MS_MAX, 500), 'rows are missing');
}

function reconcile(
  { url, adminToken }: Deployment,
  home: string,
  booked: readonly Booked[],
): Promise<string> {
  writeFileSync(join(home, 'usage.json'), JSON.stringify(openaiUsage(booked)));
  writeFileSync(join(home, 'costs.json'), JSON.stringify(openaiCosts(booked, PRICES)));
  const env = { ...bareEnvironment(), HOME: home, RELAY_SERVER: url, RELAY_ADMIN_TOKEN: adminToken };
  const args = [RELAY_ENTRY, 'reconcile', 'usage.json', 'costs.json', '--json'];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: home, env, maxBuffer: 1 << 26 }, (_error, stdout, stderr) => {
      if (stdout === '') reject(new Error(stderr));
      else resolve(stdout);
    });
  });
}
